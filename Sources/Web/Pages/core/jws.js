import { base64url, fromBase64url, text as decoded, utf8 } from "./bytes.js";
import { sign, verify } from "./identity.js";

/** The longest signed message, in bytes: with what the room adds it fits into a frame of 64 KiB. */
const maximumLength = 64 * 1024 - 512;
const longestPresence = 1024;
/** Seconds by which the clocks of child and page may differ. */
const clockTolerance = 600;

/** Why a signed message was refused; `message` names the rule. It changed nothing. */
export class RefusedMessage extends Error {}

/**
 * A message as a compact JWS, ES256. RFC 7515 section 3.1, interfaces/wire.md, "Rooms".
 * @param {object} message {type, from, to, session, challenge, …}
 * @param {{id: string, privateKey: CryptoKey}} identity
 * @returns {Promise<string>}
 */
export async function seal(message, identity) {
  const header = base64url(utf8(JSON.stringify({ alg: "ES256", kid: identity.id })));
  const input = `${header}.${base64url(utf8(JSON.stringify(message)))}`;
  return `${input}.${base64url(await sign(identity, utf8(input)))}`;
}

function object(bytes) {
  try {
    const value = JSON.parse(decoded(bytes));
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw new RefusedMessage("it is not a JSON object");
}

/**
 * The payload of a compact JWS, after its signature was verified. The header has exactly `alg` and `kid`: a key in it
 * would be the sender's own claim (RFC 7515 sections 4.1.3 and 4.1.11).
 */
async function verified(text, { key, from, most }) {
  if (typeof text !== "string" || text.length > most) throw new RefusedMessage("it is too long");
  const parts = text.split(".");
  const bytes = parts.map(fromBase64url);
  if (parts.length !== 3 || bytes.includes(null)) throw new RefusedMessage("it is not a compact JWS");
  const header = object(bytes[0]);
  if (Object.keys(header).length !== 2 || header.alg !== "ES256") throw new RefusedMessage("its header is another");
  if (header.kid !== from) throw new RefusedMessage("it is signed by another node");
  if (!(await verify(key, bytes[2], utf8(`${parts[0]}.${parts[1]}`)))) {
    throw new RefusedMessage("its signature is not the paired child's");
  }
  const payload = object(bytes[1]);
  if (payload.from !== from) throw new RefusedMessage("it has another sender or recipient");
  return payload;
}

/**
 * A message of a paired node.
 * @param {string} text
 * @param {{key: Uint8Array, from: string, to: string}} expected the sender's SPKI, and both ids
 * @returns {Promise<object>} throws RefusedMessage
 */
export async function open(text, { key, from, to }) {
  const payload = await verified(text, { key, from, most: maximumLength });
  if (payload.to !== to) throw new RefusedMessage("it has another sender or recipient");
  return payload;
}

/**
 * A child's statement that it can be met, as Presence.swift.
 * @param {string} text @param {Child} child
 * @returns {Promise<string>} the child's own challenge, for an offer. Throws RefusedMessage.
 */
export async function openPresence(text, child) {
  const { type, challenge, expires } = await verified(text, { key: child.publicKeySPKI, from: child.id, most: longestPresence });
  if (type !== "presence" || !Number.isInteger(expires)) throw new RefusedMessage("it is no presence");
  if (challenge?.length < 16 || challenge?.length > 64 || !fromBase64url(challenge)) throw new RefusedMessage("it has no challenge");
  if (expires + clockTolerance < Date.now() / 1000) throw new RefusedMessage("it is too old");
  return challenge;
}
