// The solver in a worker of the page: takes the messages that a page sends to the server, answers as the server does.
// Where the page may share memory between threads, the build with threads.

"use strict";

const hasThreads = self.crossOriginIsolated === true && typeof SharedArrayBuffer === "function";
const name = hasThreads ? "wadi-threads" : "wadi";
const waiting = []; // messages that came before the solver was there
let wadi = null;

self.onmessage = ({ data }) => {
  if (wadi) receive(data);
  else waiting.push(data);
};

function receive(text) {
  wadi.ccall("wadi_inside_receive", "number", ["string"], [text]);
}

// Messages are copied: the solver's memory stays its own.
function sendAll() {
  for (;;) {
    const at = wadi._wadi_inside_next();
    if (at === 0) return;
    const bytes = new Uint8Array(wadi.HEAPU8.subarray(at, at + wadi._wadi_inside_next_size()));
    if (wadi._wadi_inside_next_is_binary()) self.postMessage(bytes.buffer, [bytes.buffer]);
    else self.postMessage(new TextDecoder().decode(bytes));
  }
}

// A turn after the messages that wait: a channel comes round sooner than a timer, which browsers hold back for 4 ms.
const channel = new MessageChannel();
function turn() {
  const wait = wadi._wadi_inside_turn();
  sendAll();
  if (wait > 0.004) setTimeout(turn, 1000 * wait);
  else channel.port2.postMessage(null);
}
channel.port1.onmessage = turn;

function fail(why) {
  self.postMessage(JSON.stringify({ type: "end", why: String(why) }));
}

self.importScripts(`${name}.js`);
self.makeWadi({ mainScriptUrlOrBlob: `${name}.js` }).then((made) => {
  wadi = made;
  const spare = Number(new URLSearchParams(self.location.search).get("spare")); // cores that the page draws with
  const threads = hasThreads ? Math.max(Math.min(navigator.hardwareConcurrency - spare, 8), 1) : 1;
  const problem = wadi.ccall("wadi_inside_begin", "string", ["number"], [threads]);
  if (problem) {
    fail(problem);
    return;
  }
  waiting.splice(0).forEach(receive);
  turn();
}).catch(fail);
