// Parts of the page that need no browser. Run by test_view_page.py: node --test.
import assert from "node:assert/strict";
import test from "node:test";

const from = (name) => import(`${process.env.WADI_PAGE}/${name}.js`);
const { Thinning } = await from("thin");
const { encodeState, messagesOf, readHash } = await from("state_link");
const { niceAbove, Series } = await from("plots");
const { arrowLines, fastestOf, planeAxes, readSlice, colourOf, SOLID, WATER } = await from("slice");
const { KeptFrames, packFrame } = await from("kept");
const { explain, StageWalk } = await from("stages");
const { dropHeight } = await from("tools");

function feed(thinning, count, milliseconds, between) {
  for (let i = 0; i < count; ++i) thinning.measured(milliseconds, thinning.stride, between);
  return thinning.stride;
}

test("slow drawing thins out, quick drawing brings all back", () => {
  const thinning = new Thinning();
  assert.equal(feed(thinning, 2, 100, 0), 1);
  assert.equal(feed(thinning, 1, 100, 0), 2);
  assert.equal(feed(thinning, 60, 100, 0), 8);
  assert.equal(feed(thinning, 4000, 5, 0), 1);
});

test("where the simulation is the limit all particles are drawn", () => {
  const thinning = new Thinning();
  assert.equal(feed(thinning, 100, 100, 1000), 1, "drawing takes a tenth of the time between two pictures");
  assert.equal(feed(thinning, 100, 400, 500), 8, "drawing takes most of it");
  assert.equal(feed(thinning, 40, 100, 1000), 1, "and all come back soon when it does not");
});

test("a person who turns the view does not wait", () => {
  assert.equal(feed(new Thinning(), 3, 100, 0), 2);
});

test("a state comes back from its link", () => {
  const state = { scene: "dam", steps: 120, changes: '- {step: 3, set: "gravity=[0, 0, -1]"}\n', camera: [[1, 2, 3], [0, 0, 0]], note: "ü α" };
  const hash = encodeState(state);
  assert.match(hash, /^state=[A-Za-z0-9_-]+$/);
  assert.deepEqual(readHash("#" + hash), { token: "", state });
  assert.deepEqual(readHash("#abc123&" + hash), { token: "abc123", state });
  assert.deepEqual(readHash("#abc123"), { token: "abc123", state: null });
  assert.deepEqual(readHash(""), { token: "", state: null });
  assert.equal(readHash("#" + hash.slice(0, -7)).state, null, "a cut address");
  assert.equal(readHash("#state=bnVsbA").state, null);
});

test("a link becomes messages that the server takes", () => {
  assert.deepEqual(messagesOf({ steps: 7 }), ["restart", "reach 7"]);
  assert.deepEqual(messagesOf({ scene: "dam", solver: "sph", steps: 2, changes: "- {step: 0, a: 1}\n- {step: 1, b: 2}\n" }),
                   ["scene dam", "solver sph", "change - {step: 0, a: 1}", "change - {step: 1, b: 2}", "reach 2"]);
  assert.equal(messagesOf({ changes: "x".repeat(600) }), null);
});

test("axes end at 1, 2 or 5 times a power of ten", () => {
  for (const [x, y] of [[0.9, 1], [1, 1], [1.1, 2], [3, 5], [7, 10], [0.03, 0.05], [0, 1], [NaN, 1], [123, 200]]) {
    assert.ok(Math.abs(niceAbove(x) - y) < 1e-9 * y, `${x}`);
  }
});

test("a series goes back in time and stays bounded", () => {
  const series = new Series(100);
  for (let i = 0; i < 1000; ++i) series.add(i, { a: i });
  assert.ok(series.times.length <= 100);
  assert.equal(series.times.at(-1), series.rows.at(-1).a);
  series.add(500, { a: 500 });
  assert.equal(series.times.at(-1), 500);
  assert.ok(series.times.every((t, i) => i === 0 || t > series.times[i - 1]));
});

function sliceMessage(width, height, types, velocity) {
  const padded = Math.ceil(types.length / 4) * 4, buffer = new ArrayBuffer(48 + padded + 8 * types.length);
  new Uint32Array(buffer, 0, 4).set([4, 1, width, height]);
  new Float64Array(buffer, 16, 4).set([0, 0.25, 0, 0.5]);
  new Uint8Array(buffer, 48, types.length).set(types);
  new Float32Array(buffer, 48 + padded, velocity.length).set(velocity);
  return readSlice(buffer);
}

test("a slice is read, and its arrows point along the velocities", () => {
  const slice = sliceMessage(3, 1, [WATER, 0, SOLID], [2, 0, 9, 9, 9, 9]);
  assert.deepEqual([slice.axis, slice.width, slice.height, slice.cell], [1, 3, 1, 0.5]);
  assert.deepEqual(planeAxes(slice.axis), [0, 2]);
  assert.equal(fastestOf(slice), 2, "air and solids have no velocity");
  const lines = arrowLines(slice, 1, 2);
  assert.equal(lines.length, 18, "a shaft and two heads, of one arrow");
  assert.ok(Math.abs(lines[3] - lines[0] - 0.45) < 1e-6, "0.9 cells long");
  assert.equal(lines[5], lines[2], "level");
  assert.ok(lines.every((x, i) => i % 3 !== 1 || x === 0), "in the plane");
  assert.notDeepEqual(colourOf(SOLID), colourOf(WATER));
});

function grainsOf(count) {
  const places = new Float32Array(4 * 4), words = new Uint32Array(4 * 256), values = new Uint8Array(4 * 256);
  places[3] = count;
  words.fill(7, 0, count);
  return { chunkCount: 1, radius: 1, places: { image: { data: places } }, words: { array: words }, values: { array: values } };
}

test("kept frames are found by number, replaced by a new past, and bounded", () => {
  const kept = new KeptFrames(6000);
  for (let n = 1; n <= 64; ++n) kept.add(packFrame({ frame: n, particles: 100 }, grainsOf(100)));
  assert.ok(kept.bytes <= 6000 && kept.frames.length > 2, `${kept.bytes} ${kept.frames.length}`);
  assert.equal(kept.frames[0].frame, 1);
  assert.equal(kept.find(1).frame, 1);
  assert.ok(kept.find(64).frame > 32);
  assert.equal(kept.find(0).frame, 1, "the first");
  kept.add(packFrame({ frame: 1, particles: 100 }, grainsOf(3)));
  assert.equal(kept.frames.length, 1);
  assert.equal(kept.frames[0].words.length, 3, "without gaps");
});

test("stages follow each other, and behind the last comes a step", () => {
  const walk = new StageWalk();
  assert.equal(walk.next(), "step");
  assert.equal(walk.next(), "", "one step at a time");
  walk.setStages([{ name: "sort" }, { name: "pressure" }]);
  assert.ok(walk.name === "sort" && walk.isWithin);
  assert.equal(walk.next(), "stage");
  assert.ok(walk.name === "pressure" && !walk.isWithin);
  assert.equal(walk.next(), "step");
  walk.stop();
  assert.equal(walk.name, "");
  assert.match(explain("flip", "pressure").equation, /∇/);
  assert.equal(explain("flip", "unheard of").equation, "");
});

test("streams begin above the material and inside of the box", () => {
  assert.equal(dropHeight(-0.5, 0.05, 1), 0.4);
  assert.ok(Math.abs(dropHeight(0.2, 0.05, 1) - 0.265) < 1e-12, "below the top");
  assert.equal(dropHeight(0.49, 0.05, 1), 0.05, "a full box");
});
