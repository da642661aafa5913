// The particles on the graphics card: a list of chunks of 256 places, changed in place by messages of the server. The
// values go from the message to the card as they are; nothing here walks over particles.

import * as THREE from "three";
import { CHUNK, CHUNK_TEXTURE, depthFragment, depthVertex, grainFragment, grainVertex } from "./shade.js";

const HEAD = 64; // bytes before the records
const RECORD = 5; // numbers of 32 bits

// The parts of a picture as views of the message.
export function readPicture(buffer) {
  const head = new Uint32Array(buffer, 0, 12);
  const range = new Float32Array(buffer, 36, 2);
  const reals = new Float64Array(buffer, 48, 2);
  const records = head[2], words = head[3];
  return {
    isReset: (head[0] & 256) !== 0,
    sequence: head[1],
    chunkCount: head[4],
    frame: head[5],
    steps: head[6],
    particles: head[7],
    shown: head[8],
    low: range[0],
    high: range[1],
    time: reals[0],
    tile: reals[1],
    records: new Int32Array(buffer, HEAD, records * RECORD),
    words: new Uint32Array(buffer, HEAD + 4 * records * RECORD, words),
    values: new Uint8Array(buffer, HEAD + 4 * records * RECORD + 4 * words, words),
  };
}

export class Grains {
  constructor(shared) {
    this.capacity = 0; // chunks
    this.stride = 1; // each such slot is drawn
    this.radius = 0.01; // of a particle when all are drawn
    this.uniforms = {
      ...shared,
      chunks: { value: null },
      tile: { value: 1 },
      radius: { value: 0.01 },
      height: { value: 600 },
      hidden: { value: 0 },
      wetness: { value: 0 },
      mapped: { value: 0 },
      colours: { value: [0, 1, 2, 3].map(() => new THREE.Vector3(0.5, 0.4, 0.25)) },
      sunInView: { value: new THREE.Vector3() },
      upInView: { value: new THREE.Vector3(0, 0, 1) },
      viewToWorld: { value: new THREE.Matrix4() },
    };
    const material = (vertexShader, fragmentShader) =>
      new THREE.RawShaderMaterial({ glslVersion: THREE.GLSL3, uniforms: this.uniforms, vertexShader, fragmentShader });
    this.material = material(grainVertex, grainFragment);
    this.depthMaterial = material(depthVertex, depthFragment);
    this.points = new THREE.Points(new THREE.BufferGeometry(), this.material);
    this.points.frustumCulled = false;
    this.center = [0, 0, 0];
    this.grow(64);
  }

  grow(chunks) {
    if (chunks <= this.capacity) return;
    const capacity = Math.max(64, Math.ceil(chunks * 1.5));
    const words = new Uint32Array(capacity * CHUNK), values = new Uint8Array(capacity * CHUNK);
    const rows = Math.ceil(capacity / CHUNK_TEXTURE);
    const places = new Float32Array(rows * CHUNK_TEXTURE * 4);
    if (this.capacity > 0) {
      words.set(this.words.array);
      values.set(this.values.array);
      places.set(this.places.image.data.subarray(0, this.capacity * 4));
      this.points.geometry.dispose();
      this.places.dispose();
    }
    this.capacity = capacity;
    this.words = new THREE.BufferAttribute(words, 1).setUsage(THREE.DynamicDrawUsage);
    this.words.gpuType = THREE.IntType;
    this.values = new THREE.BufferAttribute(values, 1, true).setUsage(THREE.DynamicDrawUsage);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("word", this.words);
    geometry.setAttribute("value", this.values);
    this.points.geometry = geometry;
    this.strided = new Map(); // lists of each second, fourth and eighth slot
    this.chunkCount = Math.min(this.chunkCount ?? 0, capacity);
    this.setStride(this.stride);
    this.places = new THREE.DataTexture(places, CHUNK_TEXTURE, rows, THREE.RGBAFormat, THREE.FloatType);
    this.places.needsUpdate = true;
    this.uniforms.chunks.value = this.places;
  }

  // Draws each slot, or each second, fourth or eighth. The server gives these slots to the same ids in all pictures. Fewer grains
  // are drawn larger, so that the body stays closed.
  setStride(stride) {
    if (stride > 1 && !this.strided.has(stride)) {
      const slots = Uint32Array.from({ length: (this.capacity * CHUNK) / stride }, (_, i) => i * stride);
      this.strided.set(stride, new THREE.BufferAttribute(slots, 1));
    }
    this.stride = stride;
    this.points.geometry.setIndex(stride > 1 ? this.strided.get(stride) : null);
    this.points.geometry.setDrawRange(0, (this.chunkCount * CHUNK) / stride);
    this.uniforms.radius.value = this.radius * Math.cbrt(stride);
  }

  apply(picture) {
    this.grow(picture.chunkCount);
    const places = this.places.image.data, { records, words, values } = picture;
    if (picture.isReset) places.fill(0);
    let from = 0, firstOfRun = -1, endOfRun = -1;
    const ranges = [];
    for (let r = 0; r < records.length; r += RECORD) {
      const chunk = records[r], count = records[r + 1], at = chunk * CHUNK;
      for (let c = 0; c < 3; ++c) places[4 * chunk + c] = records[r + 2 + c] * picture.tile - this.center[c];
      places[4 * chunk + 3] = count;
      if (count === 0) continue;
      this.words.array.set(words.subarray(from, from + count), at);
      this.values.array.set(values.subarray(from, from + count), at);
      from += count;
      if (chunk === endOfRun) {
        endOfRun = chunk + 1;
      } else {
        if (firstOfRun >= 0) ranges.push([firstOfRun, endOfRun]);
        firstOfRun = chunk;
        endOfRun = chunk + 1;
      }
    }
    if (firstOfRun >= 0) ranges.push([firstOfRun, endOfRun]);
    this.upload(ranges);
    this.uniforms.tile.value = picture.tile;
    this.chunkCount = picture.chunkCount;
    this.setStride(this.stride);
  }

  // Many short pieces cost more than one long one.
  upload(ranges) {
    for (const attribute of [this.words, this.values]) {
      if (ranges.length > 0 && ranges.length <= 64) {
        for (const [first, end] of ranges) attribute.addUpdateRange(first * CHUNK, (end - first) * CHUNK);
      } else if (ranges.length > 0) {
        const first = Math.min(...ranges.map((r) => r[0])), end = Math.max(...ranges.map((r) => r[1]));
        attribute.addUpdateRange(first * CHUNK, (end - first) * CHUNK);
      }
      if (ranges.length > 0) attribute.needsUpdate = true;
    }
    this.places.needsUpdate = true;
  }

  // The first grain that a ray (direction of length 1) meets: its distance along the ray and its slot; Infinity and -1: none. On the processor: the
  // graphics card would answer only after the pictures that wait to be drawn. Chunks beside the ray are passed over.
  hit({ origin: o, direction: d }) {
    const places = this.places.image.data, tile = this.uniforms.tile.value, radius = this.radius;
    const cut = this.uniforms.cut.value, step = tile / 1024, wide = (0.87 * tile + radius) ** 2;
    let first = Infinity, slot = -1;
    const along = (x, y, z) => x * d.x + y * d.y + z * d.z;
    for (let chunk = 0; chunk < this.chunkCount; ++chunk) {
      const count = places[4 * chunk + 3];
      const px = places[4 * chunk] - o.x, py = places[4 * chunk + 1] - o.y, pz = places[4 * chunk + 2] - o.z;
      const mx = px + 0.5 * tile, my = py + 0.5 * tile, mz = pz + 0.5 * tile;
      if (count === 0 || mx * mx + my * my + mz * mz - along(mx, my, mz) ** 2 > wide) continue;
      for (let i = chunk * CHUNK; i < chunk * CHUNK + count; ++i) {
        const word = this.words.array[i];
        const x = px + step * ((word & 1023) + 0.5), y = py + step * (((word >>> 10) & 1023) + 0.5);
        const z = pz + step * (((word >>> 20) & 1023) + 0.5);
        const t = along(x, y, z), inside = radius * radius - (x * x + y * y + z * z - t * t);
        const isCut = (x + o.x) * cut.x + (y + o.y) * cut.y + (z + o.z) * cut.z > cut.w;
        if (inside < 0 || t <= 0 || isCut || t - Math.sqrt(inside) >= first) continue;
        first = t - Math.sqrt(inside);
        slot = i;
      }
    }
    return { distance: first, slot };
  }

  // Material and byte of the attribute of a slot.
  at(slot) {
    return { material: this.words.array[slot] >>> 30, byte: this.values.array[slot] };
  }

  // A frame that was packed (kept.js) in place of all that is there.
  load(frame) {
    const chunks = frame.places.length / 4;
    this.grow(chunks);
    this.places.image.data.fill(0);
    this.places.image.data.set(frame.places);
    for (let c = 0, at = 0; c < chunks; ++c) {
      const count = frame.places[4 * c + 3];
      this.words.array.set(frame.words.subarray(at, at + count), CHUNK * c);
      this.values.array.set(frame.values.subarray(at, at + count), CHUNK * c);
      at += count;
    }
    if (chunks > 0) this.upload([[0, chunks]]);
    this.uniforms.tile.value = frame.tile;
    this.radius = frame.radius;
    this.chunkCount = chunks;
    this.setStride(this.stride);
  }

  clear() {
    this.places.image.data.fill(0);
    this.places.needsUpdate = true;
    this.chunkCount = 0;
    this.setStride(this.stride);
  }
}
