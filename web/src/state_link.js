// The part of an address behind "#": the token of the server, and a state that the page shows: "TOKEN", "state=…", "TOKEN&state=…".

function toText(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function toBytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

export function encodeState(state) {
  return "state=" + toText(new TextEncoder().encode(JSON.stringify(state)));
}

// { token: "…" or "", state: an object or null }. A state that is damaged is left out.
export function readHash(hash) {
  const parts = hash.replace(/^#/, "").split("&");
  const found = { token: "", state: null };
  for (const part of parts) {
    if (!part.startsWith("state=")) found.token ||= part;
    else {
      try {
        const state = JSON.parse(new TextDecoder().decode(toBytes(part.slice(6))));
        if (state && typeof state === "object") found.state = state;
      } catch { /* a cut address */ }
    }
  }
  return found;
}

// What the page sends so that the simulation comes to the state: at most `most` bytes a message.
export function messagesOf(state, most = 500) {
  const messages = [state.scene ? `scene ${state.scene}` : "restart"];
  if (state.solver && state.scene) messages.push(`solver ${state.solver}`);
  for (const line of (state.changes ?? "").split("\n")) {
    if (line.trim() === "") continue;
    if (line.length + 7 > most) return null; // too long for a message
    messages.push(`change ${line}`);
  }
  messages.push(`reach ${Math.max(0, Math.round(state.steps ?? 0))}`);
  return messages;
}
