// The connection to the server: lets itself in with the token of the address, comes back by itself when it is lost.

const SESSION = "wadi-session";

export class Link {
  // handlers: open(), lost(text), text(object), binary(ArrayBuffer)
  constructor(handlers) {
    this.handlers = handlers;
    this.delay = 250;
    this.takeToken();
    // A new address given to this window changes only the part behind the #.
    window.addEventListener("hashchange", () => {
      this.takeToken();
      if (this.token) this.reconnect();
    });
    this.connect();
  }

  takeToken() {
    this.token = location.hash.slice(1);
    if (this.token) history.replaceState(null, "", location.pathname);
  }

  reconnect() {
    clearTimeout(this.timer);
    this.socket.onclose = null;
    this.socket.close();
    this.delay = 250;
    this.connect();
  }

  connect() {
    const secure = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${secure}//${location.host}/`, "wadi-view");
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      const word = this.token || sessionStorage.getItem(SESSION) || "none";
      socket.send(`hello ${word}`);
    };
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") {
        this.handlers.binary(event.data);
        return;
      }
      const message = JSON.parse(event.data);
      if (message.type === "session") {
        sessionStorage.setItem(SESSION, message.key);
        this.token = "";
        this.delay = 250;
        this.handlers.open();
      } else {
        this.handlers.text(message);
      }
    };
    socket.onclose = (event) => {
      if (event.code === 1008) {
        this.handlers.lost("This address was used before. Open the newest address that wadi printed in its terminal.");
        this.token = "";
        this.delay = 5000;
      } else {
        this.handlers.lost("The connection to wadi is lost. Trying again…");
      }
      this.timer = setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(2 * this.delay, 3000);
    };
  }

  send(text) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
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
  }

  send(text) {
    this.worker.postMessage(text);
  }
}
