// The controls around the picture: they show the state and say what a person asked for.

import { MAP_COLOURS } from "./shade.js";

export const $ = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function short(x) {
  if (!Number.isFinite(x)) return "–"; // null: the server has no finite value
  const a = Math.abs(x);
  if (a === 0) return "0";
  if (a >= 1e5 || a < 1e-3) return x.toExponential(1);
  return String(Number(x.toPrecision(3)));
}

export function count(n) {
  return n.toLocaleString("en");
}

// [key of the scene, label, unit, low, high, step, kind of material, solvers that have it]
const SLIDERS = [
  ["friction_angle", "friction angle", "°", 0, 60, 1, "sand"],
  ["cohesion", "cohesion", "Pa", 0, 500, 5, "sand"],
  ["flip_share", "α, FLIP share", "", 0, 1, 0.01, "both", "flip"],
  ["cohesion_wet", "wet cohesion", "Pa", 0, 2000, 10, "sand", "sph dem"],
  ["saturation", "saturation", "", 0, 1, 0.01, "sand", "sph dem"],
  ["viscosity", "viscosity", "Pa s", 0, 50, 0.5, "water"],
  ["surface_tension", "surface tension", "N/m", 0, 0.5, 0.01, "water"],
];

// A drag of a slider is one thing to take back.
let slidAt = -1e9;
function markStroke(send) {
  if (performance.now() - slidAt > 1000) send("mark");
  slidAt = performance.now();
}

function slider(label, unit, low, high, step, value, send) {
  const shown = element("output", {}, value < 0 ? "automatic" : `${short(value)} ${unit}`);
  const input = element("input", { type: "range", min: low, max: high, step, value: Math.max(value, low), ariaLabel: label });
  input.addEventListener("input", () => {
    shown.textContent = `${short(Number(input.value))} ${unit}`;
    send(Number(input.value));
  });
  return element("label", { className: "slider" }, element("span", {}, label), shown, input);
}

// Sliders of the materials that the scene has, of walls and of gravity.
export function showMaterials(facts, send) {
  const box = $("materials");
  box.replaceChildren();
  for (const material of facts.materials) {
    const group = element("details", { open: !material.name.startsWith("view_") },
                          element("summary", {}, material.name.replace("view_", "")));
    for (const [key, label, unit, low, high, step, kind, solver] of SLIDERS) {
      if ((kind !== "both" && kind !== material.kind) || (solver && !solver.split(" ").includes(facts.solver))) continue;
      const value = material[key] ?? 0;
      // The saturation is of the particles, not of the material in the scene.
      const change = key === "saturation" ? (v) => `wet ${material.name} ${v}` : (v) => `set materials.${material.name}.${key}=${v}`;
      group.append(slider(label, unit, low, key === "saturation" ? high : Math.max(high, 2 * value), step, value, (v) => { markStroke(send); send(change(v)); }));
    }
    box.append(group);
  }
  const world = element("details", { open: true }, element("summary", {}, "world"));
  const g = facts.gravity, strength = Math.hypot(...g);
  let tilt = 0, pull = strength;
  const gravity = () => {
    const a = (tilt * Math.PI) / 180;
    markStroke(send);
    send(`set gravity=[${(pull * Math.sin(a)).toFixed(4)},0,${(-pull * Math.cos(a)).toFixed(4)}]`);
  };
  world.append(slider("gravity", "m/s²", 0, 20, 0.1, strength, (v) => { pull = v; gravity(); }));
  world.append(slider("tilt", "°", -60, 60, 1, 0, (v) => { tilt = v; gravity(); }));
  const change = (key) => (v) => { markStroke(send); send(`set ${key}=${v}`); };
  if (facts.domain) world.append(slider("wall friction", "", 0, 1.5, 0.05, facts.wall_friction, change("domain.walls.friction")));
  if (facts.pair_separation !== undefined) {
    world.append(slider("separation of pairs", "iterations", 0, 10, 1, facts.pair_separation, change("flip.pair_separation")));
  }
  box.append(world);
}

export function showScenes(message, send) {
  const select = $("scene");
  select.replaceChildren(element("option", { value: "" }, message.facts.name));
  for (const scene of message.scenes) {
    select.append(element("option", { value: scene.name, title: scene.summary, selected: scene.name === message.chosen },
                          scene.name));
  }
  select.onchange = () => select.value && send(`scene ${select.value}`);
  $("solver").value = message.facts.solver;
  $("solver").onchange = () => send(`solver ${$("solver").value}`);
  document.body.classList.toggle("is-run", message.mode === "run");
}

export function showQuantities(names) {
  const select = $("colour");
  const before = select.value;
  select.replaceChildren(element("option", { value: "" }, "material"));
  for (const name of names) {
    if (name !== "material" && name !== "id") select.append(element("option", { value: name }, name));
  }
  select.value = names.includes(before) ? before : "";
}

export const UNITS = { velocity: "m/s", pressure: "Pa", density: "kg/m³", pore_pressure: "Pa", radius: "m" };

export function showLegend(name, low, high) {
  const legend = $("legend");
  legend.hidden = !name;
  if (!name) return;
  $("legend-bar").style.background = `linear-gradient(90deg, ${MAP_COLOURS.join(",")})`;
  if (document.activeElement !== $("legend-low")) $("legend-low").value = short(low);
  if (document.activeElement !== $("legend-high")) $("legend-high").value = short(high);
  $("legend-unit").textContent = UNITS[name] ?? "";
  $("legend-name").textContent = name === "velocity" ? "speed" : name;
}

const PALETTE = ["#3b6fa0", "#c98b2b", "#5b8c5a", "#a34a4a", "#7a5c99", "#3e8e8e", "#8c6d4f", "#b0589a", "#6b7280", "#97a832"];

// Stage timings as stacked bars, the newest at the right.
export class Chart {
  constructor(canvas, list) {
    this.canvas = canvas;
    this.list = list;
    this.rows = [];
    this.colours = new Map();
  }

  colourOf(name) {
    if (!this.colours.has(name)) this.colours.set(name, PALETTE[this.colours.size % PALETTE.length]);
    return this.colours.get(name);
  }

  add(stages) {
    this.rows.push(Object.entries(stages));
    if (this.rows.length > 60) this.rows.shift();
    const context = this.canvas.getContext("2d"), { width, height } = this.canvas;
    const most = Math.max(1e-3, ...this.rows.map((row) => row.reduce((sum, [, ms]) => sum + ms, 0)));
    context.clearRect(0, 0, width, height);
    this.rows.forEach((row, i) => {
      let y = height;
      for (const [name, ms] of row) {
        const tall = (ms / most) * height;
        context.fillStyle = this.colourOf(name);
        context.fillRect(width - (this.rows.length - i) * (width / 60), y - tall, width / 60 - 0.5, tall);
        y -= tall;
      }
    });
    const largest = [...this.rows[this.rows.length - 1]].sort((a, b) => b[1] - a[1]).slice(0, 5);
    this.list.replaceChildren(...largest.map(([name, ms]) => {
      const mark = element("i");
      mark.style.background = this.colourOf(name);
      return element("li", { "data-stage": name }, mark, `${name} ${ms.toFixed(1)} ms`);
    }));
  }
}
