// The connection to the server: lets itself in with the token of the address, comes back by itself when it is lost. For that it has a key, which
// it never sends: the server proves first that it has the same one, then the page does. Another program on this port gets nothing of it.

import { hmac, nonce } from "./hmac.js";
import { readHash } from "./state_link.js";

const SESSION = "wadi-session";

export class Link {
  // handlers: open(), lost(text), text(object), binary(ArrayBuffer)
  constructor(handlers) {
    this.handlers = handlers;
    this.delay = 250;
    this.first = this.takeToken().state; // asked for by the address
    // A new address given to this window changes only the part behind the #.
    window.addEventListener("hashchange", () => {
      const { state } = this.takeToken();
      if (this.token) this.reconnect();
      if (state) this.handlers.state(state);
    });
    this.connect();
  }

  takeToken() {
    const found = readHash(location.hash);
    this.token = found.token;
    if (location.hash) history.replaceState(null, "", location.pathname);
    return found;
  }

  reconnect() {
    clearTimeout(this.timer);
    this.socket.onclose = null;
    this.socket.close();
    this.delay = 250;
    this.connect();
  }

  // Nothing changes by trying again.
  end(text) {
    this.socket.onclose = null;
    this.socket.close();
    this.handlers.lost(text);
  }

  connect() {
    const secure = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${secure}//${location.host}/`, "wadi-view");
    this.socket = socket;
    this.isIn = false; // let in
    socket.binaryType = "arraybuffer";
    const question = nonce();
    const key = sessionStorage.getItem(SESSION);
    let isOwn = !!this.token; // whoever printed the address, or proved to have the key
    socket.onopen = () => {
      socket.send(this.token || !key ? `hello ${this.token || "none"}` : `back ${question}`);
    };
    socket.onmessage = (event) => {
      const message = typeof event.data === "string" ? JSON.parse(event.data) : null;
      if (!isOwn) {
        isOwn = !!key && message?.proof === hmac(key, `wadi server ${question} ${message.nonce}`);
        if (isOwn) socket.send(`proof ${hmac(key, `wadi page ${question} ${message.nonce}`)}`);
        else this.end("Another wadi runs here now. Open the address that it printed in its terminal.");
      } else if (!message) {
        this.handlers.binary(event.data);
      } else if (message.type === "session") {
        if (message.key) sessionStorage.setItem(SESSION, message.key);
        this.token = "";
        this.delay = 250;
        this.isIn = true;
        this.handlers.open();
        if (this.first) this.handlers.state(this.first);
        this.first = null;
      } else {
        this.handlers.text(message);
      }
    };
    socket.onclose = (event) => {
      if (event.code === 4000) {
        this.end("Another window shows this. Load the page again to have it here.");
        return;
      }
      if (event.code === 1008 && !(this.token && key)) {
        this.end("This address was used before. Open the newest address that wadi printed in its terminal.");
        return;
      }
      if (event.code === 1008) this.token = ""; // used up; the key may do
      else this.handlers.lost("The connection to wadi is lost. Trying again…");
      this.timer = setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(2 * this.delay, 3000);
    };
  }

  send(text) {
    if (this.isIn && this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }
}

// The same with the solver inside the page: a worker in place of the server.
export class InsideLink {
  // drawsOnProcessor: the drawing needs a core of its own.
  constructor(handlers, script, drawsOnProcessor) {
    this.worker = new Worker(drawsOnProcessor ? `${script}?spare=1` : script);
    this.worker.onmessage = ({ data }) => {
      if (typeof data === "string") handlers.text(JSON.parse(data));
      else handlers.binary(data);
    };
    this.worker.onerror = (event) => handlers.lost(`The solver stopped: ${event.message}. Load the page again.`);
    handlers.open();
    const { state } = readHash(location.hash);
    if (state) handlers.state(state);
    window.addEventListener("hashchange", () => {
      const next = readHash(location.hash).state;
      if (next) handlers.state(next);
    });
  }

  send(text) {
    this.worker.postMessage(text);
  }
}
