import { base64url, random } from "./bytes.js";
import { open, RefusedMessage, seal } from "./jws.js";
import { Room, RoomError } from "./room.js";

/** How long the child may take to answer an offer, ms. */
const answerPatience = 8000;
const mostCandidates = 64;

/** Why there is no session, or none any more. `reason`: see `Session.onover`. */
export class SessionEnd extends Error {
  constructor(reason, text = "") {
    super(text || reason);
    this.reason = reason;
    this.text = text;
  }
}

const signedReasons = new Set(["left", "not-paired", "expired", "busy", "not-acceptable", "going-away"]);

/**
 * Signalling with a paired child through its room, as PairedParentSession.swift. A message counts only if the paired key
 * has signed it, for this session and this registration: a lying server can keep the two apart, but cannot put another
 * DTLS fingerprint into the answer.
 */
export class PairedSignaling {
  #child;
  #identity;
  #room = new Room();
  #session = base64url(random(16));
  #challenge = null;
  #answer = null;
  #untold = [];
  #isTold = false;
  #refused = "";
  #bye = null;
  #order = Promise.resolve();
  #timer;
  #isOver = false;
  /** ({candidate, sdpMid}|null) for each candidate of the child; null: there are no more. */
  oncandidate = () => {};
  /** (SessionEnd) when the child ends the session. */
  onend = () => {};

  constructor(child, identity) {
    this.#child = child;
    this.#identity = identity;
  }

  /**
   * @param {Promise<string>} offer SDP; it is made while the room is entered
   * @returns {Promise<string>} the child's SDP. Throws SessionEnd.
   */
  async start(offer) {
    this.#room.ondelivery = ({ msg }) => {
      // One after the other, as they came: verifying takes its time.
      this.#order = this.#order.then(() => this.#receive(msg)).catch(() => {});
    };
    this.#room.onerror = ({ message }) => (this.#refused ||= `the room says: ${message}`);
    this.#room.onclose = () => this.#answer?.reject(new SessionEnd("unreachable"));
    offer.catch(() => {});
    try {
      const client = base64url(random(16));
      this.#challenge = await this.#room.register(this.#child.origin, this.#child.id, client);
    } catch (error) {
      throw this.#end(error);
    }
    const sdp = await offer;
    const answer = new Promise((resolve, reject) => (this.#answer = { resolve, reject }));
    this.#timer = setTimeout(() => this.#answer.reject(
      new SessionEnd(this.#refused ? "forged" : "unreachable", this.#refused || "no answer in time")), answerPatience);
    answer.catch(() => {});
    await this.#send({ type: "offer", sdp });
    this.#isTold = true;
    for (const message of this.#untold.splice(0)) this.#send(message);
    // Signed beforehand: a page that is being left has no time to wait for a signature.
    this.#bye = this.#seal({ type: "bye", reason: "left" }).then((text) => (this.#bye = text), () => null);
    try {
      return await answer;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** A candidate of this browser, as it is found; null: there are no more. */
  addCandidate(candidate) {
    const message = candidate
      ? { type: "candidate", candidate: candidate.candidate, sdpMid: candidate.sdpMid ?? undefined }
      : { type: "end-of-candidates" };
    if (this.#isTold) this.#send(message);
    else if (this.#untold.length < mostCandidates) this.#untold.push(message);
  }

  /** Says goodbye at once and closes. */
  leave() {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (typeof this.#bye === "string" && this.#room.isOpen) this.#room.send(this.#child.id, this.#bye);
    this.#room.close();
    this.#answer?.reject(new SessionEnd("left"));
  }

  #end(error) {
    if (!(error instanceof RoomError)) return new SessionEnd("unreachable", String(error?.message ?? error));
    // A child of this address that does not host this room is another child, or has a new key.
    if (error.code === "no-such-room") return new SessionEnd("forged", "another child answers at this address");
    return new SessionEnd(error.code === "full" ? "busy" : "unreachable", error.message);
  }

  #seal(content) {
    return seal({
      ...content, from: this.#identity.id, to: this.#child.id, session: this.#session, challenge: this.#challenge,
    }, this.#identity);
  }

  async #send(content) {
    const text = await this.#seal(content);
    if (!this.#isOver) this.#room.send(this.#child.id, text);
  }

  async #receive(text) {
    let message;
    try {
      message = await open(text, { key: this.#child.publicKeySPKI, from: this.#child.id, to: this.#identity.id });
      if (message.session !== this.#session) throw new RefusedMessage("it belongs to another session");
      if (message.challenge !== this.#challenge) throw new RefusedMessage("it answers another challenge");
    } catch (error) {
      this.#refused = error instanceof RefusedMessage ? error.message : "it cannot be verified";
      return;
    }
    if (this.#isOver) return;
    switch (message.type) {
      case "answer":
        if (typeof message.sdp === "string") this.#answer?.resolve(message.sdp);
        break;
      case "candidate":
        if (typeof message.candidate === "string") {
          this.oncandidate({ candidate: message.candidate, sdpMid: String(message.sdpMid ?? "0") });
        }
        break;
      case "end-of-candidates":
        this.oncandidate(null);
        break;
      case "bye": {
        const end = new SessionEnd(signedReasons.has(message.reason) ? message.reason : "left");
        this.#answer?.reject(end);
        this.onend(end);
        break;
      }
      // What only a newer child says.
    }
  }
}
