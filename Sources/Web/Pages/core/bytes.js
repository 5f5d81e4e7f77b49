const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export const utf8 = (text) => encoder.encode(text);

/** The text of UTF-8 bytes; what is no UTF-8 becomes U+FFFD. */
export const text = (bytes) => new TextDecoder().decode(bytes);

/**
 * All parts one after the other.
 * @param {...(Uint8Array|number[])} parts
 * @returns {Uint8Array}
 */
export function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Lower-case hexadecimal digits. */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The bytes of hexadecimal digits. */
export const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** base64url without padding, RFC 4648 section 5. */
export function base64url(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * The bytes of base64url without padding; null for anything else, also for a last digit with unused bits set, so that
 * the same bytes have one form only.
 * @returns {Uint8Array|null}
 */
export function fromBase64url(digits) {
  if (typeof digits !== "string" || !/^[A-Za-z0-9_-]*$/.test(digits) || digits.length % 4 === 1) return null;
  const binary = atob(digits.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return base64url(bytes) === digits ? bytes : null;
}

/** Whether two byte arrays are equal, in a time that depends on their length alone. */
export function equal(one, other) {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i += 1) difference |= one[i] ^ other[i];
  return difference === 0;
}

/** Random bytes for keys and names. */
export const random = (count) => crypto.getRandomValues(new Uint8Array(count));

/** A big-endian number of `count` bytes. */
export function number(value, count) {
  const bytes = new Uint8Array(count);
  for (let at = count - 1, rest = BigInt(value); at >= 0; at -= 1, rest >>= 8n) bytes[at] = Number(rest & 255n);
  return bytes;
}

/** The big-endian number in some bytes. */
export const toNumber = (bytes) => BigInt("0x" + (hex(bytes) || "0"));

/** A part with its length of two bytes before it. */
export const part = (bytes) => concat(number(bytes.length, 2), bytes);
