import { base64url, random } from "./bytes.js";
import { Connector, SessionEnd } from "./connector.js";
import { open, RefusedMessage, seal } from "./jws.js";

/** How long the child may take to answer an offer, ms. */
const answerPatience = 8000;
const mostCandidates = 64;
/** Messages that came and are not verified yet. */
const mostWaiting = 256;

const signedReasons = new Set(["left", "not-paired", "expired", "busy", "not-acceptable", "going-away"]);

/**
 * Signalling with a paired child through its room, at its own address or at a meeting place, as PairedParentSession.swift. A
 * message counts only if the paired key has signed it, for this session and this challenge: a lying server can keep the two
 * apart, but cannot put another DTLS fingerprint into the answer.
 */
export class PairedSignaling {
  #child;
  #identity;
  #connector;
  #room = null;
  #session = base64url(random(16));
  #challenge = null;
  #answer = null;
  /** Counts ICE restarts. */
  #revision = 0;
  #restarted = null;
  #untold = [];
  #isTold = false;
  #refused = "";
  #bye = null;
  #order = Promise.resolve();
  #waiting = 0;
  #timer;
  #isOver = false;
  /** The origin at which the child was reached, where it is not the one that it was paired at. */
  movedTo = null;
  /** ({candidate, sdpMid}|null, revision) for each candidate of the child; null: there are no more. */
  oncandidate = () => {};
  /** (servers, as told) when a meeting place lends some. */
  onservers = () => {};
  /** (SessionEnd) when the child ends the session. */
  onend = () => {};

  constructor(child, identity) {
    this.#child = child;
    this.#identity = identity;
    this.#connector = new Connector(child);
  }

  /**
   * @param {(isMet: boolean) => Promise<string>} makeOffer SDP; `isMet`: for a child at a meeting place
   * @returns {Promise<string>} the child's SDP. Throws SessionEnd.
   */
  async start(makeOffer) {
    const { room, challenge, isMet, movedTo } = await this.#connector.reach();
    [this.#room, this.#challenge, this.movedTo] = [room, challenge, movedTo ?? null];
    this.#room.ondelivery = ({ msg }) => {
      // One after the other, as they came: verifying takes its time. What a lying room floods us with is not kept.
      if (this.#waiting >= mostWaiting) return;
      this.#waiting += 1;
      this.#order = this.#order.then(() => this.#receive(msg)).catch(() => {}).finally(() => (this.#waiting -= 1));
    };
    this.#room.onerror = ({ message }) => (this.#refused ||= `the room says: ${message}`);
    this.#room.onclose = () => this.#answer?.reject(new SessionEnd("unreachable"));
    this.#room.onservers = (servers) => this.onservers(servers);
    const sdp = await makeOffer(isMet);
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

  /** Those from before the offer belong to another connection. */
  forgetCandidates() {
    this.#untold = [];
  }

  /** What is told from now on belongs to an ICE restart. */
  beginRestart() {
    this.#revision += 1;
  }

  /**
   * Asks for the restart that was begun last.
   * @param {string} sdpfrag our credentials
   * @returns {Promise<{sdpfrag: string, revision: number}>} the child's; never, if it is not answered
   */
  restart(sdpfrag) {
    return new Promise((resolve) => {
      this.#restarted = resolve;
      this.#send({ type: "offer", sdpfrag });
    });
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
    this.#connector.close();
    this.#room?.close();
    this.#answer?.reject(new SessionEnd("left"));
  }

  #seal(content) {
    return seal({
      ...content, from: this.#identity.id, to: this.#child.id, session: this.#session, challenge: this.#challenge,
      revision: this.#revision || undefined,
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
        else if (typeof message.sdpfrag === "string" && message.revision === this.#revision) this.#restarted?.(message);
        break;
      case "candidate":
        if (typeof message.candidate === "string") {
          this.oncandidate({ candidate: message.candidate, sdpMid: String(message.sdpMid ?? "0") }, message.revision ?? 0);
        }
        break;
      case "end-of-candidates":
        this.oncandidate(null, message.revision ?? 0);
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
