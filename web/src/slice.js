// A plane of cells: their types, the grid between them and the mean velocity in each.

import * as THREE from "three";

export const AIR = 0, WATER = 1, SAND = 2, SOLID = 4;
const COLOURS = { [AIR]: [235, 238, 240, 60], [WATER]: [47, 111, 184, 235], [SAND]: [201, 139, 43, 235], [WATER | SAND]: [120, 110, 90, 235] };
const SOLID_COLOUR = [90, 96, 102, 255];

export function colourOf(type) {
  return type & SOLID ? SOLID_COLOUR : COLOURS[type & 3];
}

// The parts of the message as views.
export function readSlice(buffer) {
  const head = new Uint32Array(buffer, 0, 4), reals = new Float64Array(buffer, 16, 4);
  const count = head[2] * head[3], padded = Math.ceil(count / 4) * 4;
  return {
    axis: head[1], width: head[2], height: head[3], corner: [reals[0], reals[1], reals[2]], cell: reals[3],
    types: new Uint8Array(buffer, 48, count), velocity: new Float32Array(buffer, 48 + padded, 2 * count),
  };
}

// What the stages of a step left on the grid: [{ name, slice }].
export function readStages(buffer) {
  const head = new Uint32Array(buffer, 0, 4), reals = new Float64Array(buffer, 16, 4), stages = new Uint32Array(buffer, 48, 1)[0];
  const count = head[2] * head[3], first = 56 + Math.ceil(count / 8) * 8, each = 32 + 8 * count;
  const plain = { axis: head[1], width: head[2], height: head[3], corner: [reals[0], reals[1], reals[2]], cell: reals[3],
                  types: new Uint8Array(buffer, 56, count) };
  return Array.from({ length: stages }, (_, i) => {
    const bytes = new Uint8Array(buffer, first + i * each, 32), end = bytes.indexOf(0);
    const name = new TextDecoder().decode(bytes.subarray(0, end < 0 ? 32 : end));
    return { name, slice: { ...plain, velocity: new Float32Array(buffer, first + i * each + 32, 2 * count) } };
  });
}

// The two axes in the plane.
export const planeAxes = (axis) => [axis === 0 ? 1 : 0, axis === 2 ? 1 : 2];

// Lines of arrows in the plane, as pairs of points (x, y, z) from the corner: shafts and heads. The longest is 0.9 of `every` cells.
export function arrowLines({ axis, width, height, cell, types, velocity }, every, fastest) {
  const [u, v] = planeAxes(axis), lines = [];
  const put = (a, b) => {
    const p = [0, 0, 0];
    p[u] = a;
    p[v] = b;
    lines.push(...p);
  };
  for (let j = Math.floor(every / 2); j < height; j += every) {
    for (let i = Math.floor(every / 2); i < width; i += every) {
      const n = j * width + i, a = velocity[2 * n], b = velocity[2 * n + 1], speed = Math.hypot(a, b);
      if (!(types[n] & 3) || !(speed > 0.01 * fastest)) continue;
      const length = Math.min((0.9 * every * cell * speed) / fastest, 1.5 * every * cell), du = (a / speed) * length, dv = (b / speed) * length;
      const x = (i + 0.5) * cell - 0.5 * du, y = (j + 0.5) * cell - 0.5 * dv;
      put(x, y);
      put(x + du, y + dv);
      for (const side of [-1, 1]) {
        put(x + du, y + dv);
        put(x + 0.68 * du - side * 0.18 * dv, y + 0.68 * dv + side * 0.18 * du);
      }
    }
  }
  return new Float32Array(lines);
}

// The speed that nineteen of twenty cells with particles do not exceed: a few drops do not make all other arrows short.
export function fastestOf({ types, velocity }) {
  const speeds = [];
  for (let n = 0; n < types.length; ++n) if (types[n] & 3) speeds.push(Math.hypot(velocity[2 * n], velocity[2 * n + 1]));
  speeds.sort((a, b) => a - b);
  return speeds.length > 0 ? speeds[Math.min(Math.floor(0.95 * speeds.length), speeds.length - 1)] : 0;
}

export class SliceView {
  constructor(scene) {
    this.scene = scene;
    this.group = new THREE.Group();
    this.group.renderOrder = 2;
    scene.add(this.group);
    this.fastest = 0;
    this.showsArrows = this.showsCells = true;
  }

  clear() {
    for (const child of [...this.group.children]) {
      this.group.remove(child);
      child.geometry.dispose();
      child.material.map?.dispose();
      child.material.dispose();
    }
    this.latest = null;
  }

  // center: of the domain, where the page has its origin.
  show(slice, center) {
    this.clear();
    this.latest = slice;
    const { axis, width, height, cell, types } = slice, [u, v] = planeAxes(axis);
    const pixels = new Uint8Array(4 * width * height);
    types.forEach((type, n) => pixels.set(colourOf(type), 4 * n));
    const corner = (a, b) => {
      const p = [0, 0, 0];
      p[u] = a * cell;
      p[v] = b * cell;
      return p;
    };
    if (this.showsCells) {
      const plane = new THREE.BufferGeometry();
      plane.setAttribute("position", new THREE.BufferAttribute(new Float32Array(
        [corner(0, 0), corner(width, 0), corner(width, height), corner(0, height)].flat()), 3));
      plane.setAttribute("uv", new THREE.BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2));
      plane.setIndex([0, 1, 2, 0, 2, 3]);
      const map = new THREE.DataTexture(pixels, width, height);
      map.needsUpdate = true;
      this.group.add(new THREE.Mesh(plane, new THREE.MeshBasicMaterial({
        map, transparent: true, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 })));
      const grid = [];
      for (let i = 0; i <= width; ++i) grid.push(...corner(i, 0), ...corner(i, height));
      for (let j = 0; j <= height; ++j) grid.push(...corner(0, j), ...corner(width, j));
      this.addLines(new Float32Array(grid), 0x4b5560, 0.5);
    }
    if (this.showsArrows) {
      this.fastest = Math.max(0.97 * this.fastest, fastestOf(slice)); // the scale follows slowly where it falls
      const every = Math.max(1, Math.ceil(Math.max(width, height) / 48));
      if (this.fastest > 0) this.addLines(arrowLines(slice, every, this.fastest), this.showsCells ? 0xffffff : 0x101820, 1);
    }
    this.group.position.set(...slice.corner.map((x, i) => x - center[i]));
  }

  addLines(points, color, opacity) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color, transparent: true, opacity, depthTest: opacity < 1 }));
    lines.renderOrder = opacity < 1 ? 2 : 3;
    this.group.add(lines);
  }
}
