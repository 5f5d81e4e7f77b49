import { concat, fromBase64url, base64url, number, part, toNumber, text as decoded, utf8 } from "./bytes.js";
import { hkdf, openBytes, pbkdf2, sealBytes, sha256 } from "./digest.js";
import { here } from "./away.js";
import { nodeID, sign, spkiByteCount, verify } from "./identity.js";
import { cleanName } from "./plain.js";
import { passwordInput, Prover, secrets, SPAKE2PlusError } from "./spake2plus.js";
import { checkWords } from "./words.js";

// The parent's end of pairing. interfaces/wire.md, "Pairing"; the bytes are those of Sources/Protocols/Pairing/Exchange.

/**
 * Why pairing failed. `reason`: "unknown-link" (used, expired or never made), "wrong-code", "window-closed",
 * "too-many-tries", "bad-reply" (what answers breaks the protocol), "unreachable", "wrong-link" (what answers does not
 * know the link), "unsupported" (this browser lacks something), "no-webrtc" (it has none, as in Lockdown Mode),
 * "already-paired" (what the link gives is neither more nor less than what this page has), "failed" (the child could not).
 */
export class PairingError extends Error {
  /** @param {string} reason @param {{triesLeft?: number, retryAfterSeconds?: number, detail?: string}} more */
  constructor(reason, { triesLeft, retryAfterSeconds, detail } = {}) {
    super(detail ?? reason);
    this.reason = reason;
    this.triesLeft = triesLeft;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * `https://HOST/#pair=SECRET`, or `#pair=SECRET` of this page's own address.
 * @returns {{origin: string, secret: Uint8Array}|null}
 */
export function parseLink(text) {
  const match = /^(https:\/\/[!-~]{1,400}?)?\/?#pair=([A-Za-z0-9_-]{22})$/.exec(String(text ?? "").trim());
  const secret = match && fromBase64url(match[2]);
  if (!secret) return null;
  try {
    if (!match[1]) return { origin: here, secret };
    const url = new URL(match[1]);
    if (url.protocol !== "https:" || url.pathname !== "/" || url.search || url.username || url.password) return null;
    return { origin: url.origin, secret };
  } catch {
    return null;
  }
}

/** The eight digits of a code as a person types it; null for anything else. */
export function parseCode(text) {
  const digits = String(text ?? "").replace(/[\s\-\u2010-\u2013\u2212]/g, "");
  return /^[0-9]{8}$/.test(digits) ? digits : null;
}

const permissionNames = ["view", "listen", "talk", "control", "admin", "recordings"];
const label = (text) => part(utf8(`Cradle pairing 1 ${text}`));
const names = (context) => ({ context, prover: utf8("parent"), verifier: utf8("child") });
const halves = 80;

/** How long the child may take for one answer, ms. */
const patience = 10_000;

const problems = {
  "window-closed": "window-closed", "unknown-link": "unknown-link", "unknown-session": "window-closed",
  "wrong-code": "wrong-code", "too-many-tries": "too-many-tries", "bad-message": "bad-reply", "already-paired": "already-paired",
};

async function ask(origin, request) {
  let response, reply;
  try {
    response = await fetch(`${origin}/pair`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request), cache: "no-store",
      credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", signal: AbortSignal.timeout(patience),
    });
    reply = await response.text();
  } catch (error) {
    throw new PairingError("unreachable", { detail: String(error?.message ?? error) });
  }
  try {
    reply = JSON.parse(reply);
  } catch {
    reply = null;
  }
  if (response.ok && reply !== null && typeof reply === "object") return reply;
  const kind = /^urn:cradle:pairing:([a-z-]+)$/.exec(reply?.type ?? "")?.[1];
  const whole = (value) => (Number.isInteger(value) && value >= 0 ? value : undefined);
  const words = typeof reply?.detail === "string" ? reply.detail.slice(0, 300) : "";
  throw new PairingError(problems[kind] ?? (response.status >= 500 ? "failed" : "bad-reply"), {
    triesLeft: whole(reply?.triesLeft), retryAfterSeconds: whole(reply?.retryAfterSeconds),
    detail: words || `${response.status} ${kind ?? ""}`.trim(),
  });
}

/** The bytes of a reply's member, which has between `least` and `most` of them. */
function bytes(reply, step, name, least, most = least) {
  const value = reply.step === step ? fromBase64url(reply[name]) : null;
  if (!value || value.length < least || value.length > most) throw new PairingError("bad-reply", { detail: name });
  return value;
}

async function begin({ origin, secret, code }) {
  if (secret) {
    const id = await hkdf(secret, { info: label("link id"), count: 16 });
    const about = names(concat(label("link"), part(id)));
    const keys = secrets(await hkdf(passwordInput(secret, about), { info: label("link secrets"), count: halves }));
    const prover = new Prover(about, keys);
    return { about, prover, request: { step: "link", id: base64url(id), share: base64url(prover.share) } };
  }
  const reply = await ask(origin, { step: "begin" });
  const salt = bytes(reply, "parameters", "salt", 16);
  const { iterations } = reply;
  // Fewer would make guessing cheap for whoever steals the child's record, more would stall this page.
  if (!Number.isInteger(iterations) || iterations < 1000 || iterations > 200_000) {
    throw new PairingError("bad-reply", { detail: "iterations" });
  }
  const about = names(concat(label("code"), part(salt), number(iterations, 4)));
  const keys = secrets(await pbkdf2(passwordInput(utf8(code), about), { salt, iterations, count: halves }));
  const prover = new Prover(about, keys);
  return { about, prover, request: { step: "share", salt: base64url(salt), share: base64url(prover.share) } };
}

/** Tells the child of a wrong try, so that it need not wait; its answer says how many are left. */
async function abandon(origin, session) {
  try {
    await ask(origin, { step: "abandon", session: base64url(session) });
  } catch (error) {
    if (error.reason === "wrong-code") return error;
  }
  return new PairingError("wrong-code");
}

const signedBytes = (purpose, transcript, head, about) =>
  concat(label(purpose), part(transcript), part(head), part(about));

/** Reads what the child seals: its key and name, and what it grants. Null if it is malformed. */
function readChild(head) {
  let at = 0;
  const take = (count) => (at + count <= head.length ? head.subarray(at, (at += count)) : null);
  const takePart = () => {
    const length = take(2);
    return length && take(Number(toNumber(length)));
  };
  const [key, name, granted, permissions, expiry] = [takePart(), takePart(), takePart(), take(1), take(8)];
  if (!expiry || at !== head.length || key.length !== spkiByteCount) return null;
  const seconds = Number(BigInt.asIntN(64, toNumber(expiry)));
  return {
    key: key.slice(), name: cleanName(decoded(name), "Child"), granted: cleanName(decoded(granted), "Parent"),
    permissions: permissionNames.filter((_, bit) => permissions[0] & (1 << bit)),
    expiresAt: seconds === 0 ? null : seconds * 1000,
  };
}

/**
 * Pairs with a child. Both ends are proved: each knows the secret or the code, and holds the key that it introduces.
 * @param {{origin: string, secret?: Uint8Array, code?: string}} means what `parseLink` or `parseCode` gave
 * @param {{identity: Identity, name: string}} own this page's key, and its name for the family
 * @returns {Promise<{child: Child, words: string[], permissions: string[], expiresAt: number|null, granted: string, settle: (step: "confirm"|"cancel") => Promise<void>}>}
 *   `granted`: this page's name at the child; `expiresAt` in ms since 1970; `settle` tells the child whether the words were the same, for ten minutes. Both throw PairingError
 *   alone.
 */
export async function pair(means, { identity, name }) {
  if (!globalThis.crypto?.subtle) throw new PairingError("unsupported");
  // Nothing would ever be watched, and a link would be used up for it.
  if (typeof globalThis.RTCPeerConnection !== "function") throw new PairingError("no-webrtc");
  try {
    return await converse(means, identity, cleanName(name, "Phone"));
  } catch (error) {
    if (error instanceof PairingError) throw error;
    throw new PairingError("unsupported", { detail: String(error?.message ?? error) });
  }
}

async function converse(means, identity, name) {
  const { origin } = means;
  const { about, prover, request } = await begin(means);
  const reply = await ask(origin, request);
  const session = bytes(reply, "share", "session", 16);
  const share = bytes(reply, "share", "share", 65);
  const proof = bytes(reply, "share", "confirmation", 32);
  let outcome;
  try {
    outcome = await prover.receive(share, proof);
  } catch (error) {
    if (!(error instanceof SPAKE2PlusError) || error.reason !== "wrong-confirmation") {
      throw new PairingError("bad-reply", { detail: "share" });
    }
    throw means.secret ? new PairingError("wrong-link") : await abandon(origin, session);
  }
  const transcript = await sha256(
    concat(label("transcript"), part(about.context), part(prover.share), part(session), part(share)),
  );
  const keys = await hkdf(outcome.sharedKey, { salt: transcript, info: label("sealing keys"), count: 32 });
  const own = identity.publicKeySPKI;
  const head = concat(part(own), part(utf8(name)));
  const signature = await sign(identity, signedBytes("parent signs", transcript, head, []));
  const sealed = await sealBytes(concat(head, signature), keys.subarray(0, 16), transcript);
  const finished = await ask(origin, {
    step: "finish", session: base64url(session), confirmation: base64url(outcome.confirmation), sealed: base64url(sealed),
    confirms: true,
  });
  const opened = await openBytes(bytes(finished, "finished", "sealed", 1, 1024), keys.subarray(16), transcript);
  const end = (opened?.length ?? 0) - 64;
  const child = end > 0 ? readChild(opened.subarray(0, end)) : null;
  const isSigned = child && (await verify(
    child.key, opened.subarray(end), signedBytes("child signs", transcript, opened.subarray(0, end), own)));
  const id = child && (await nodeID(child.key));
  if (!isSigned || id === identity.id) throw new PairingError("bad-reply", { detail: "introduction" });
  const { permissions, expiresAt } = child;
  return {
    child: {
      id, origin, name: child.name, publicKeySPKI: child.key, permissions, expiresAt, pairedAt: Date.now(),
      lastSeenAt: null, still: null, token: null,
    },
    words: await checkWords(label("check words"), transcript, own, child.key),
    permissions, expiresAt, granted: child.granted,
    settle: async (step) => {
      const proof = await hkdf(outcome.sharedKey, { salt: transcript, info: label(step), count: 32 });
      await ask(origin, { step, session: base64url(session), proof: base64url(proof) });
    },
  };
}
