// Frames of a session, kept to be shown beside another one. A frame is its particles without gaps.

const LIMIT = 192e6; // bytes; beyond it every second frame goes

export function packFrame(picture, grains) {
  const places = grains.places.image.data, chunks = grains.chunkCount;
  let total = 0;
  for (let c = 0; c < chunks; ++c) total += places[4 * c + 3];
  const frame = {
    frame: picture.frame, time: picture.time, particles: picture.particles, low: picture.low, high: picture.high, tile: picture.tile,
    radius: grains.radius, places: places.slice(0, 4 * chunks), words: new Uint32Array(total), values: new Uint8Array(total),
  };
  for (let c = 0, at = 0; c < chunks; ++c) {
    const count = places[4 * c + 3];
    frame.words.set(grains.words.array.subarray(256 * c, 256 * c + count), at);
    frame.values.set(grains.values.array.subarray(256 * c, 256 * c + count), at);
    at += count;
  }
  frame.bytes = frame.places.byteLength + 5 * total;
  return frame;
}

export class KeptFrames {
  constructor(limit = LIMIT) {
    this.limit = limit;
    this.clear();
  }

  clear() {
    this.frames = [];
    this.bytes = 0;
    this.every = 1;
  }

  // Frames after it belong to a past that was taken back.
  add(frame) {
    while (this.frames.length > 0 && this.frames[this.frames.length - 1].frame >= frame.frame) this.bytes -= this.frames.pop().bytes;
    if ((frame.frame - 1) % this.every !== 0) return;
    this.frames.push(frame);
    this.bytes += frame.bytes;
    while (this.bytes > this.limit && this.frames.length > 1) {
      this.every *= 2;
      this.frames = this.frames.filter((f) => (f.frame - 1) % this.every === 0);
      this.bytes = this.frames.reduce((sum, f) => sum + f.bytes, 0);
    }
  }

  // The last one up to the frame number, or the first; undefined: there is none.
  find(number) {
    let found = this.frames[0];
    for (const frame of this.frames) if (frame.frame <= number) found = frame;
    return found;
  }
}
