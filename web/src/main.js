// Joins the parts: messages of the server become pictures, what a person does becomes messages.

import { readPicture } from "./grains.js";
import { Lesson } from "./lesson.js";
import { InsideLink, Link } from "./link.js";
import { $, Chart, count, short, showLegend, showMaterials, showQuantities, showScenes } from "./panel.js";
import { Stage } from "./stage.js";
import { TOOLS, Tools } from "./tools.js";

const state = {
  tool: "look", isPlaying: true, facts: null, message: null, frame: 0, last: 1, isScrubbing: false, isLive: true,
  names: {}, attribute: "", picture: null, drawn: 0, acknowledged: 0, hasFitted: false, kept: 1,
};
let stage;
try {
  stage = new Stage($("picture"));
} catch (error) {
  $("lost").hidden = false;
  $("lost").textContent = "This browser cannot draw: WebGL 2 is missing or switched off.";
  throw error;
}
const chart = new Chart($("chart"), $("stages"));
let link = null;
// What changes the simulation ends a walk through the stages of a step.
const PASSIVE = ["ack", "stages", "slice", "colour", "range", "surface", "link", "mark"];
const send = (text) => {
  if (!PASSIVE.includes(text.split(" ")[0])) lesson.leaveStages();
  link?.send(text);
};
const tools = new Tools(state, stage, send);
const lesson = new Lesson(state, stage, send, (message) => note(message));

// What tests and the curious look at.
window.wadi = { state, stage, send, tools, lesson, get link() { return link; } };

function onScene(message) {
  state.message = message;
  const before = state.facts?.cell_size;
  state.facts = message.facts;
  state.isLive = message.mode === "live";
  state.isPlaying = message.playing;
  const isOther = state.name !== message.facts.name || !state.hasFitted;
  state.name = message.facts.name;
  stage.setScene(message.facts);
  if (isOther) stage.fit();
  state.hasFitted = true;
  showScenes(message, send);
  if (!document.querySelector("#materials input:active")) showMaterials(message.facts, send); // not under a person's finger
  showQuantities(message.quantities);
  state.attribute = $("colour").value || message.plain;
  applyColours();
  for (const kind of ["sand", "water"]) {
    state.names[kind] = message.facts.materials.find((m) => m.kind === kind)?.name;
    document.querySelector(`[data-tool=${kind}]`).disabled = !state.names[kind] || !state.isLive;
  }
  for (const tool of ["push", "dig"]) document.querySelector(`[data-tool=${tool}]`).disabled = !state.isLive;
  $("surface").checked = message.surface;
  $("surface-row").hidden = !message.facts.materials.some((m) => m.kind === "water");
  $("wet-row").hidden = !["sph", "dem"].includes(message.facts.solver);
  if (isOther || before !== message.facts.cell_size) setBrush(message.facts);
  document.title = `${message.facts.name} – wadi`;
  showPlaying();
  if (message.steps === 0 || isOther) lesson.begin();
  lesson.onScene(message);
  $("other").hidden = !message.beside;
}

function setBrush(facts) {
  $("brush").max = 0.25 * Math.min(...stage.extent);
  $("brush").min = 2 * facts.cell_size;
  $("brush").step = 0.1 * facts.cell_size;
  $("brush").value = Math.max(0.06 * stage.size, 3 * facts.cell_size);
}

function applyColours() {
  const isMapped = $("colour").value !== "";
  stage.grains.uniforms.mapped.value = isMapped ? 1 : 0;
  stage.grains.uniforms.wetness.value = !isMapped && state.attribute === "wetness" ? 1 : 0;
  if (!isMapped) showLegend("");
  stage.showSurface();
  stage.need();
}

function onStats(stats) {
  $("rate").textContent = `${stats.pictures.toFixed(0)} pictures/s`;
  state.rate = stats.pictures;
  stage.between = stats.pictures > 0 ? 1000 / stats.pictures : 1000;
  lesson.onStats(stats);
  state.recording = stats.recording;
  if (state.isLive) $("pace").textContent = `${short(stats.pace)} × real time`;
  state.last = stats.frames;
  if (!state.isScrubbing) $("scrub").max = Math.max(stats.frames, 1);
  if (stats.stages) chart.add(stats.stages);
  state.kept = stats.kept;
  showThinned();
  if (stats.playing !== state.isPlaying) {
    state.isPlaying = stats.playing;
    showPlaying();
  }
  showBusy(null);
  $("record").classList.toggle("on", stats.recording);
  $("recording").hidden = !stats.recording;
  $("record-bar").hidden = !stats.recording;
  if (stats.recording) {
    $("recording").textContent = `recording: frame ${stats.recorded} of ${stats.to_record}`;
    $("record-bar").max = stats.to_record;
    $("record-bar").value = stats.recorded;
  }
}

// What the simulation has been doing for longer than a second, until its next word; null: nothing.
function showBusy(message) {
  state.isBusy = message !== null;
  $("busy").hidden = !state.isBusy;
  if (state.isBusy) $("busy").textContent = `${message.what}: ${message.seconds} s so far`;
}

// Particles that the server leaves out, and those that are left out of the drawing while something moves.
function showThinned() {
  const stride = stage.grains.stride, each = Math.round(stride / state.kept);
  $("thinned").hidden = each <= 1;
  if (each > 1) {
    $("thinned").textContent = `showing 1 of ${each} particles: ` + (state.kept < 1 ? "the connection or this browser is too slow for all"
      : "this browser draws too slowly for all while something moves");
  }
}

// Problems, and recordings that are whole, stay until they are closed or something else is said.
let noteTimer = 0;
function note(message) {
  const isProblem = message.type === "problem";
  if (isProblem) lesson.leaveStages();
  $("note").hidden = false;
  $("note").classList.toggle("problem", isProblem);
  $("note").textContent = `${message.what}: ${message.why}`;
  clearTimeout(noteTimer);
  if (!isProblem && message.what !== "recorded") noteTimer = setTimeout(() => ($("note").hidden = true), 6000);
}
$("note").onclick = () => ($("note").hidden = true);

const handlers = {
  open() {
    $("lost").hidden = true;
    showBusy(null);
    stage.grains.clear();
    state.picture = null;
    state.acknowledged = 0;
    send(`colour ${$("colour").value || "material"}`);
  },
  state(link) {
    lesson.open(link);
  },
  lost(text) {
    $("lost").hidden = false;
    $("lost").textContent = text;
  },
  text(message) {
    if (message.type === "scene") {
      onScene(message);
      if (wanted) openWanted(message);
    } else if (message.type === "stats") onStats(message);
    else if (message.type === "problem" || message.type === "note") note(message);
    else if (message.type === "busy") showBusy(message);
    else if (message.type === "link") lesson.onLink(message);
    else if (message.type === "end") handlers.lost(`The solver stopped: ${message.why}. Load the page again.`);
  },
  binary(buffer) {
    const kind = new Uint8Array(buffer, 0, 1)[0];
    if (kind === 1 && lesson.holds(buffer)) {
      send(`ack ${readPicture(buffer).sequence % 1000000}`);
    } else if (kind === 1) {
      const picture = readPicture(buffer);
      // Fewer grains are drawn larger, so that the body stays closed.
      stage.grains.radius = 0.55 * state.facts.spacing * Math.cbrt(picture.particles / Math.max(picture.shown, 1));
      stage.applyPicture(picture);
      state.picture = picture;
      state.frame = picture.frame;
      state.particles = picture.particles;
      state.time = picture.time;
      if (!state.isScrubbing) $("scrub").value = picture.frame;
      $("clock").textContent = `frame ${picture.frame} · ${picture.time.toFixed(2)} s`;
      $("count").textContent = `${count(picture.particles)} particles`;
      if ($("colour").value) showLegend(state.attribute, picture.low, picture.high);
      lesson.onPicture(picture);
    } else if (kind === 4) {
      lesson.onSlice(buffer);
    } else if (kind === 5) {
      lesson.onStages(buffer);
    } else {
      if (kind === 2 && !$("surface").checked) return;
      stage.applyMesh(buffer, state.facts?.colliders);
      if (kind === 2) state.surfaces = (state.surfaces ?? 0) + 1;
    }
  },
};

window.wadi.receive = handlers.text;
lesson.apply = handlers.binary;

// The page with the solver inside may be opened with a scene: index.html?scene=NAME.
let wanted = new URLSearchParams(location.search).get("scene");
function openWanted(message) {
  if (wanted && message.scenes.some((scene) => scene.name === wanted)) send(`scene ${wanted}`);
  wanted = null;
}

// Where the page comes from says where the solver runs: `wadi view` has a server, the folder of `make web` a worker.
async function connect() {
  const host = await fetch("host.json").then((answer) => answer.json());
  link = host.worker ? new InsideLink(handlers, host.worker, stage.isSoftware) : new Link(handlers);
  document.body.classList.toggle("is-inside", !!host.worker);
}
connect().catch(() => handlers.lost("The server does not answer. Load the page again."));

// Drawing: when something changed. A picture is acknowledged when it is drawn, and the next one comes.
const STILL_MS = 300; // without a change: all particles are drawn again
let slow = 0, before = 0;
function loop(now) {
  requestAnimationFrame(loop);
  const elapsed = now - before;
  before = now;
  if (stage.isDrawing()) return;
  const isStill = now - stage.changedAt > (state.isPlaying ? 1500 : STILL_MS);
  if (!stage.isNeeded && !(isStill && stage.grains.stride > 1)) return;
  slow = elapsed > 45 ? Math.min(slow + 1, 40) : Math.max(slow - 0.5, 0);
  if (slow > 12 && $("quality").value === "auto") stage.setQuality(0);
  const stride = isStill || $("quality").value === "full" ? 1 : stage.thinning.stride;
  const hasOther = stride !== stage.grains.stride;
  stage.draw(stride);
  if (hasOther) showThinned();
  state.drawn += 1;
  if (state.picture && state.acknowledged !== state.picture.sequence) {
    state.acknowledged = state.picture.sequence;
    send(`ack ${state.picture.sequence % 1000000}`);
  }
}
requestAnimationFrame(loop);
new ResizeObserver(() => stage.resize()).observe($("picture"));
stage.resize();
if (stage.isSoftware) stage.setQuality(0);

function showPlaying() {
  $("play").innerHTML = `<svg viewBox="0 0 16 16"><path d="${state.isPlaying ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z"}"/></svg>`;
  $("play").setAttribute("aria-label", state.isPlaying ? "pause" : "play");
}

function setPlaying(isPlaying) {
  state.isPlaying = isPlaying;
  send(isPlaying ? "play" : "pause");
  showPlaying();
}

function seek(frame) {
  state.isPlaying = false;
  showPlaying();
  send(`seek ${Math.max(1, Math.min(frame, 999999999))}`);
}

function setTool(tool) {
  if (document.querySelector(`[data-tool=${tool}]`).disabled) return;
  state.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-pressed", button.dataset.tool === tool);
  }
  stage.controls.enabled = tool === "look";
  if (tool === "look") tools.hide();
  $("picture").style.cursor = tool === "look" ? "grab" : "crosshair";
}

function screenshot() {
  stage.draw();
  $("picture").toBlob((blob) => {
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = `${state.name ?? "wadi"}.${String(state.frame).padStart(4, "0")}.png`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  });
}

$("play").onclick = () => setPlaying(!state.isPlaying);
$("step").onclick = () => { state.isPlaying = false; showPlaying(); send("step"); };
$("restart").onclick = () => send("restart");
$("undo").onclick = () => send("undo");
$("fit").onclick = () => stage.fit();
$("shot").onclick = screenshot;
$("record").onclick = () => send("record");
$("scrub").oninput = () => { state.isScrubbing = true; seek(Number($("scrub").value)); };
$("scrub").onchange = () => { state.isScrubbing = false; };
$("panel-button").onclick = () => document.body.classList.toggle("no-panel");
for (const button of document.querySelectorAll("[data-tool]")) button.onclick = () => setTool(button.dataset.tool);
$("colour").onchange = () => {
  state.attribute = $("colour").value || state.message.plain;
  send(`colour ${$("colour").value || "material"}`);
  applyColours();
};
$("surface").onchange = () => {
  send(`surface ${$("surface").checked ? 1 : 0}`);
  if (!$("surface").checked) stage.setSurface(null);
};
$("shadows").onchange = () => {
  stage.shared.shadowStrength.value = $("shadows").checked ? 0.85 : 0;
  stage.shadowIsOld = true;
  stage.need();
};
$("quality").onchange = () => stage.setQuality($("quality").value === "fast" || ($("quality").value === "auto" && stage.isSoftware) ? 0 : 1);
$("brush").oninput = () => tools.showRing();
const setCut = () => stage.setCut($("cut").value === "" ? null : Number($("cut").value), Number($("cut-at").value));
$("cut").onchange = setCut;
$("cut-at").oninput = setCut;
$("speed").onchange = () => send(`speed ${$("speed").value}`);
$("help-button").onclick = () => $("help").showModal();

const KEYS = {
  " ": () => setPlaying(!state.isPlaying), ".": () => $("step").click(), r: () => send("restart"), f: () => stage.fit(),
  n: () => lesson.nextStage(), s: screenshot, h: () => $("panel-button").click(), "?": () => $("help").showModal(),
  ArrowLeft: () => seek(state.frame - 1), ArrowRight: () => seek(state.frame + 1), Home: () => seek(1), End: () => seek(state.last),
  c: () => { $("cut").value = $("cut").value === "" ? "1" : ""; $("cut").dispatchEvent(new Event("change")); },
};
window.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.type !== "text") {
    event.preventDefault();
    send("undo");
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
  const tool = TOOLS[Number(event.key) - 1];
  if (tool) setTool(tool);
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});
setTool("look");
if (window.innerWidth < 720) document.body.classList.add("no-panel");
