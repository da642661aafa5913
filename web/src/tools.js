// Pouring, pushing and digging: where they act and what the server is told. Pouring goes on while the pointer is held.

import { $ } from "./panel.js";

export const TOOLS = ["look", "sand", "water", "push", "dig"];

// How far above the material a stream begins: well above it, below the top of the box.
export function dropHeight(z, radius, extentZ) {
  const top = 0.5 * extentZ - 0.7 * radius; // from the middle of the box
  return Math.max(Math.min(Math.max(0.4 * extentZ, 2.5 * radius), top - z), radius);
}

export class Tools {
  constructor(state, stage, send) {
    Object.assign(this, { state, stage, send });
    this.isDown = false;
    this.at = null;
    this.height = 0;
    const picture = $("picture");
    picture.addEventListener("pointerdown", (event) => this.begin(event));
    picture.addEventListener("pointermove", (event) => this.move(event));
    picture.addEventListener("pointerup", () => this.end());
    picture.addEventListener("pointercancel", () => this.end());
    picture.addEventListener("pointerleave", () => this.hide());
  }

  get radius() {
    return Number($("brush").value);
  }

  isPour() {
    return this.state.tool === "sand" || this.state.tool === "water";
  }

  // Inside the box: behind it there is only the floor of the picture.
  place() {
    const r = this.radius, p = this.at.clone();
    if (this.state.facts.domain) {
      ["x", "y"].forEach((axis, i) => {
        const limit = Math.max(0.5 * this.stage.extent[i] - 0.7 * r, 0);
        p[axis] = Math.min(Math.max(p[axis], -limit), limit);
      });
    }
    return p;
  }

  source(p) {
    const from = p.clone();
    from.z += dropHeight(p.z, this.radius, this.stage.extent[2]);
    return from;
  }

  act() {
    const { state, stage } = this;
    if (!this.at || state.isBusy) return;
    const r = this.radius, p = this.place(), four = (x) => stage.toWorld(x).map((v) => v.toFixed(5)).join(" ");
    if (state.tool === "push") {
      p.z += 0.3 * r;
      this.send(`push ${four(p)} ${r.toFixed(5)}`);
    } else if (state.tool === "dig") {
      this.send(`dig ${four(p)} ${r.toFixed(5)}`);
    } else if (state.names[state.tool]) {
      const wet = state.tool === "sand" ? Number($("wet").value) : 0;
      this.send(`pour ${state.names[state.tool]} ${four(this.source(p))} ${(0.6 * r).toFixed(5)} 0 0 -${(2 * Math.sqrt(stage.size)).toFixed(3)} ${wet}`);
    }
  }

  showRing() {
    if (this.state.tool === "look" || !this.at || !this.state.facts) {
      this.hide();
      return;
    }
    const p = this.place();
    this.stage.ring.show(p, this.isPour() ? 0.6 * this.radius : this.radius, this.isPour() ? this.source(p) : null, 0.6 * this.radius);
    this.stage.need();
  }

  hide() {
    if (this.stage.ring.target.visible) this.stage.need();
    this.stage.ring.hide();
  }

  begin(event) {
    if (this.state.tool === "look" || event.button !== 0) return;
    $("picture").setPointerCapture(event.pointerId);
    this.isDown = true;
    this.at = this.stage.pick(event.clientX, event.clientY);
    this.height = this.at ? this.at.z : 0;
    this.send("mark");
    this.act();
    this.showRing();
    this.timer = setInterval(() => this.state.tool !== "push" && this.act(), 60);
  }

  move(event) {
    if (this.state.tool === "look" || !this.state.facts) return;
    this.at = this.isDown && this.state.tool !== "dig" ? this.stage.onPlane(event.clientX, event.clientY, this.height)
      : this.stage.pick(event.clientX, event.clientY);
    this.showRing();
    if (this.isDown && this.state.tool === "push") this.act();
  }

  end() {
    if (!this.isDown) return;
    this.isDown = false;
    clearInterval(this.timer);
    if (this.state.tool === "push") this.send("release");
  }
}
