// HMAC-SHA-256 of texts of ASCII (RFC 2104, FIPS 180-4), as hexadecimal digits. Browsers offer theirs to pages of this machine only, and not
// to those that --listen serves to others.

// The first 32 bits of the fractions of roots of the first primes: square roots for the state, cube roots for the rounds.
const primes = [];
for (let n = 2; primes.length < 64; ++n) if (primes.every((p) => n % p)) primes.push(n);
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const START = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const K = primes.map((p) => fraction(Math.cbrt(p)));
const rotated = (x, n) => (x >>> n) | (x << (32 - n));

function addBlock(state, bytes, at) {
  const w = [];
  for (let i = 0; i < 16; ++i) w[i] = (bytes[at + 4 * i] << 24) | (bytes[at + 4 * i + 1] << 16) | (bytes[at + 4 * i + 2] << 8) | bytes[at + 4 * i + 3];
  for (let i = 16; i < 64; ++i) {
    const a = w[i - 15], b = w[i - 2];
    w[i] = (w[i - 16] + w[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3)) + (rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10))) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; ++i) {
    const one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i];
    const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  return [a, b, c, d, e, f, g, h].map((x, i) => (x + state[i]) | 0);
}

function sha256(bytes) {
  const size = 64 * Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(size);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  new DataView(padded.buffer).setUint32(size - 4, 8 * bytes.length);
  let state = START;
  for (let at = 0; at < size; at += 64) state = addBlock(state, padded, at);
  return state.flatMap((x) => [x >>> 24, (x >>> 16) & 255, (x >>> 8) & 255, x & 255]);
}

const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
const bytesOf = (text) => [...text].map((c) => c.charCodeAt(0));

export function hmac(key, text) {
  const block = new Array(64).fill(0);
  bytesOf(key).forEach((b, i) => (block[i] = b));
  const inner = sha256([...block.map((b) => b ^ 0x36), ...bytesOf(text)]);
  return hex(sha256([...block.map((b) => b ^ 0x5c), ...inner]));
}

export function nonce() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}
