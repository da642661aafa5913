// What explains the simulation: cells in a cut, plots, the value under the pointer, stages one at a time, two sessions side by side, links.

import { KeptFrames, packFrame } from "./kept.js";
import { $, element, short, UNITS } from "./panel.js";
import { Plot, Series } from "./plots.js";
import { readSlice, readStages } from "./slice.js";
import { explain, StageWalk } from "./stages.js";
import { encodeState, messagesOf } from "./state_link.js";

const PROBE_PARTICLES = 500000; // of more the search would hold up the drawing

// "v_p" with what follows "_" below the line: one letter or number, or a word up to a blank or a sign.
export function formula(text) {
  return text.split(/(_[A-Za-z0-9]+)/).map((part) => (part.startsWith("_") ? element("sub", {}, part.slice(1)) : part));
}

export class Lesson {
  constructor(state, stage, send, note) {
    Object.assign(this, { state, stage, send, note });
    this.totals = new Series();
    this.energy = new Plot($("energy"), $("energy-label"),
                           [["kinetic", "#b3641a", "kinetic"], ["potential", "#3b6fa0", "potential"], ["total", "#20262c", "total"]], "J", [0, 1e-12]);
    this.volume = new Plot($("volume"), $("volume-label"), [["volume", "#3e8e8e", "volume"]], "m³", [0, 1e-12]);
    this.frames = new KeptFrames();
    this.kept = null;
    this.walk = new StageWalk();
    this.times = {};
    this.held = []; // pictures that wait for the end of a walk
    this.apply = () => {};
    this.listen();
  }

  listen() {
    $("slice").onchange = () => this.askSlice();
    $("cut").addEventListener("change", () => this.askSlice());
    $("cut-at").addEventListener("input", () => this.askSlice());
    $("keep").onclick = () => this.keep();
    $("drop").onclick = () => this.drop();
    $("other").onclick = () => {
      this.keep();
      this.frames = new KeptFrames();
      this.send("other");
    };
    $("copy-link").onclick = () => this.send("link");
    $("stage-begin").onclick = () => this.nextStage();
    $("stage-next").onclick = () => this.nextStage();
    $("stage-stop").onclick = () => this.leaveStages();
    const picture = $("picture");
    picture.addEventListener("pointermove", (event) => this.probe(event));
    picture.addEventListener("pointerleave", () => {
      this.pointer = null;
      $("probe").hidden = true;
    });
    for (const id of ["legend-low", "legend-high"]) {
      $(id).onchange = () => this.fixRange(Number($("legend-low").value), Number($("legend-high").value));
    }
    $("legend-auto").onclick = () => this.fixRange(0, 0);
  }

  // Equal: as the quantity needs it.
  fixRange(low, high) {
    if (!Number.isFinite(low) || !Number.isFinite(high) || high < low) return;
    this.send(`range ${low} ${high}`);
    $("legend-auto").hidden = !(high > low);
  }

  // Another scene, or the same from its start.
  begin() {
    this.totals.clear();
    this.frames.clear();
    this.energy.reset();
    this.volume.reset();
    this.leaveStages();
    this.askSlice();
  }

  askSlice() {
    const view = this.stage.slice, what = $("slice").value, axis = $("cut").value === "" ? 1 : Number($("cut").value);
    view.showsCells = what === "cells" || what === "both";
    view.showsArrows = what === "arrows" || what === "both";
    if (what === "") {
      view.clear();
      this.send("slice 3 0");
    } else {
      this.send(`slice ${axis} ${$("cut-at").value}`);
    }
    this.stage.need();
  }

  onSlice(buffer) {
    if ($("slice").value === "" || this.walk.stages.length > 0) return;
    this.stage.slice.show(readSlice(buffer), this.stage.center);
    this.stage.need();
  }

  onStats(stats) {
    if (stats.kinetic !== undefined && stats.kinetic !== null) {
      const row = { kinetic: stats.kinetic, potential: stats.potential, total: stats.kinetic + stats.potential, volume: stats.volume };
      this.totals.add(stats.time, row);
      this.energy.draw(this.totals);
      this.volume.draw(this.totals);
    }
    if (stats.stages && Object.keys(stats.stages).length > 0) {
      this.times = stats.stages;
    }
    $("undo").disabled = !(stats.undo > 0);
  }

  onPicture(picture) {
    const { state } = this;
    const isNew = picture.frame !== this.lastFrame;
    this.lastFrame = picture.frame;
    if (isNew) this.frames.add({ ...packFrame(picture, this.stage.grains), attribute: state.attribute });
    if (this.kept && isNew) this.showKept();
    if (this.pointer && !$("probe").hidden) this.probe(this.pointer);
  }

  // Bytes of the kept frame in the range of the present colours.
  showKept() {
    const { state } = this, frame = this.kept.find(this.lastFrame ?? 1), picture = state.picture;
    if (!frame) return;
    let shown = frame;
    if (picture && frame.attribute === state.attribute && (frame.low !== picture.low || frame.high !== picture.high)) {
      const scale = (frame.high - frame.low) / (picture.high - picture.low), shift = (255 * (frame.low - picture.low)) / (picture.high - picture.low);
      shown = { ...frame, values: frame.values.map((b) => Math.max(0, Math.min(255, b * scale + shift))) };
    }
    this.stage.setBeside(shown);
    $("side-kept").textContent = `${this.keptName} · frame ${frame.frame}`;
    $("side-own").textContent = `now · frame ${this.lastFrame}`;
    $("sides").hidden = false;
    this.stage.need();
  }

  keep() {
    if (this.frames.frames.length === 0) return;
    this.kept = this.frames;
    this.frames = new KeptFrames();
    this.keptName = this.state.name;
    const series = new Series();
    series.times = [...this.totals.times];
    series.rows = [...this.totals.rows];
    this.energy.kept = this.volume.kept = series;
    $("drop").disabled = false;
    for (const frame of this.kept.frames) this.frames.add(frame); // the present session goes on from here
    this.showKept();
    if (this.state.isLive) this.note({ type: "note", what: "kept", why: `${this.kept.frames.length} frames; change something and start again (r): both are shown side by side` });
  }

  drop() {
    this.kept = this.energy.kept = this.volume.kept = null;
    this.stage.setBeside(null);
    $("sides").hidden = true;
    $("drop").disabled = true;
  }

  probe(event) {
    const { state, stage } = this, now = performance.now();
    this.pointer = { clientX: event.clientX, clientY: event.clientY, buttons: event.buttons };
    // While something is poured, pushed or dug, the ring is what matters.
    const isWorking = event.buttons !== 0 || state.tool !== "look";
    if (isWorking) $("probe").hidden = true;
    if (isWorking || !state.picture || state.particles > PROBE_PARTICLES || now - (this.probedAt ?? 0) < 60) return;
    this.probedAt = now;
    const found = stage.probe(event.clientX, event.clientY), box = $("probe");
    box.hidden = !found;
    if (!found) return;
    const { low, high } = state.picture, name = state.attribute === "velocity" ? "speed" : state.attribute;
    const value = low + (found.byte / 255) * (high - low), material = state.facts.materials[found.material]?.name.replace("view_", "") ?? "";
    box.textContent = `${material} · ${name} ${short(value)} ${UNITS[state.attribute] ?? ""} · (${found.place.map(short).join(", ")}) m`;
    box.style.left = `${Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${event.clientY + 16}px`;
  }

  nextStage() {
    const what = this.walk.next();
    if (what === "step") this.send("stages");
    else if (what === "stage") this.showStage();
  }

  // The step is taken; its pictures wait for the last stage.
  onStages(buffer) {
    this.walk.setStages(readStages(buffer));
    this.stage.slice.fastest = 0;
    this.showStage();
  }

  // Whether a picture has to wait for the end of the walk.
  holds(buffer) {
    const isHeld = this.walk.isWaiting || this.walk.isWithin;
    if (isHeld) this.held.push(buffer);
    return isHeld;
  }

  release() {
    const held = this.held;
    this.held = [];
    for (const buffer of held) this.apply(buffer);
  }

  leaveStages() {
    const wasThere = this.walk.stages.length > 0 || this.walk.isWaiting;
    if (!wasThere) return;
    this.walk.stop();
    this.release();
    $("stage-card").hidden = true;
    this.markStage();
    this.askSlice();
  }

  showStage() {
    const { name, equation, text } = explain(this.state.facts?.solver, this.walk.name);
    const view = this.stage.slice, { slice } = this.walk.stages[this.walk.at] ?? {};
    if (slice) {
      view.showsCells = view.showsArrows = true;
      view.show(slice, this.stage.center);
      this.stage.need();
    }
    if (!this.walk.isWithin) this.release();
    $("stage-card").hidden = false;
    $("stage-name").textContent = name ? `${this.walk.at + 1} of ${this.walk.stages.length}: ${name}` : "no stages";
    $("stage-time").textContent = this.times[name] !== undefined ? `${this.times[name].toFixed(1)} ms` : "";
    $("stage-equation").replaceChildren(...formula(equation));
    $("stage-text").textContent = text;
    this.markStage();
  }

  markStage() {
    for (const item of document.querySelectorAll("#stages li")) item.classList.toggle("on", item.dataset.stage === this.walk.name);
  }

  onLink(message) {
    const { stage, state } = this, at = stage.camera.position, to = stage.controls.target;
    const round = (v) => v.toArray().map((x) => Number(x.toPrecision(6)));
    const link = {
      scene: message.scene, name: message.name, solver: message.solver, steps: message.steps, changes: message.changes,
      camera: [round(at), round(to)], colour: $("colour").value, cut: [$("cut").value, $("cut-at").value], slice: $("slice").value,
    };
    if (messagesOf(link) === null) {
      this.note({ type: "problem", what: "link", why: "one of the changes is too long for a link" });
      return;
    }
    this.link = `${location.origin}${location.pathname}#${encodeState(link)}`;
    navigator.clipboard?.writeText(this.link).catch(() => {});
    $("note").hidden = false;
    $("note").classList.remove("problem");
    $("note").replaceChildren(`link to step ${message.steps} of ${message.name}; it is in the clipboard: `, element("a", { href: this.link }, "this state"));
    if (state.isLive && location.protocol !== "file:" && !document.body.classList.contains("is-inside")) {
      $("note").append(" (it opens in this window, or in one with a page of wadi view of the same scene)");
    }
  }

  // A link that was opened.
  async open(link) {
    const messages = messagesOf(link);
    if (messages === null) return;
    this.wanted = link;
    for (let i = 0; i < messages.length; ++i) {
      this.send(messages[i]);
      if (i % 40 === 39) await new Promise((done) => setTimeout(done, 200)); // the server takes 128 at a time
    }
  }

  // The scene of the link is there: the view as it was.
  onScene(message) {
    const link = this.wanted;
    if (!link) return;
    if (link.name && link.name !== message.facts.name) {
      if (!link.scene) {
        this.note({ type: "problem", what: "link", why: `it is of the scene ${link.name}; start wadi view with that` });
        this.wanted = null;
      }
      return;
    }
    this.wanted = null;
    if (link.camera) {
      this.stage.camera.position.fromArray(link.camera[0]);
      this.stage.controls.target.fromArray(link.camera[1]);
      this.stage.controls.update();
    }
    for (const [id, value] of [["colour", link.colour], ["cut", link.cut?.[0]], ["cut-at", link.cut?.[1]], ["slice", link.slice]]) {
      if (value === undefined || $(id).value === value) continue;
      $(id).value = value;
      $(id).dispatchEvent(new Event("change"));
    }
  }
}
