// Curves over simulated time, with fixed scales that only grow.

import { short } from "./panel.js";

// 1, 2 or 5 times a power of ten, at least x.
export function niceAbove(x) {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const base = 10 ** Math.floor(Math.log10(x) + 1e-12);
  return [1, 2, 5, 10].map((f) => f * base).find((y) => y >= x * (1 - 1e-12));
}

// Values over time; a smaller time than the last begins again from there.
export class Series {
  constructor(limit = 2000) {
    this.limit = limit;
    this.times = [];
    this.rows = [];
  }

  add(time, row) {
    while (this.times.length > 0 && this.times[this.times.length - 1] >= time) {
      this.times.pop();
      this.rows.pop();
    }
    this.times.push(time);
    this.rows.push(row);
    if (this.times.length > this.limit) { // every second one
      this.times = this.times.filter((_, i) => i % 2 === 0);
      this.rows = this.rows.filter((_, i) => i % 2 === 0);
    }
  }

  clear() {
    this.times = [];
    this.rows = [];
  }
}

export class Plot {
  // lines: [[key, colour, label]]; range: [low, high] at least
  constructor(canvas, label, lines, unit, range) {
    Object.assign(this, { canvas, label, lines, unit, first: range });
    this.kept = null; // a series to compare with
    this.reset();
  }

  reset() {
    this.low = this.first[0];
    this.high = this.first[1];
  }

  draw(series) {
    const { width, height } = this.canvas, context = this.canvas.getContext("2d");
    const all = [series, ...(this.kept ? [this.kept] : [])];
    for (const { rows } of all) {
      for (const row of rows) {
        for (const [key] of this.lines) {
          if (row[key] > this.high) this.high = niceAbove(row[key]);
          if (row[key] < this.low) this.low = -niceAbove(-row[key]);
        }
      }
    }
    const end = Math.max(1e-9, ...all.map(({ times }) => times[times.length - 1] ?? 0));
    const x = (t) => (t / end) * (width - 2) + 1;
    const y = (v) => height - 2 - ((v - this.low) / (this.high - this.low)) * (height - 4);
    context.clearRect(0, 0, width, height);
    context.strokeStyle = "#d5dade";
    context.beginPath();
    context.moveTo(0, y(Math.max(this.low, 0)));
    context.lineTo(width, y(Math.max(this.low, 0)));
    context.stroke();
    for (const part of all) {
      context.setLineDash(part === series ? [] : [4, 3]);
      for (const [key, colour] of this.lines) {
        context.strokeStyle = colour;
        context.beginPath();
        part.times.forEach((t, i) => context[i ? "lineTo" : "moveTo"](x(t), y(part.rows[i][key])));
        context.stroke();
      }
    }
    context.setLineDash([]);
    const last = series.rows[series.rows.length - 1];
    this.label.textContent = last
      ? this.lines.map(([key, , name]) => `${name} ${short(last[key])}`).join(", ") + ` ${this.unit} (axis ${short(this.low)} to ${short(this.high)}, ${short(end)} s)`
      : "";
  }
}
