// HMAC-SHA-256 of texts, as hexadecimal digits. Browsers offer theirs to pages of this machine only, and not to those that --listen serves to
// others.
import { hmac as hmacOf } from "@noble/hashes/hmac";
import { sha256 } from "@noble/hashes/sha256";
import { bytesToHex } from "@noble/hashes/utils";

export function hmac(key, text) {
  return bytesToHex(hmacOf(sha256, key, text));
}

export function nonce() {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
}
