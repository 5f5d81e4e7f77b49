import { base64url, random } from "./bytes.js";
import { Connector, SessionEnd } from "./connector.js";
import { open, RefusedMessage, seal } from "./jws.js";

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
  #session;
  #challenge;
  /** (sdp) with the child's answer; (SessionEnd) when the room in use is given up. */
  #answered = () => {};
  #giveUp = () => {};
  /** Counts ICE restarts. */
  #revision = 0;
  #restarted = null;
  #untold = [];
  #isTold = false;
  #refused = "";
  #bye = null;
  #order = Promise.resolve();
  #waiting = 0;
  #isOver = false;
  /** The origin at which the child was reached, where it is not the one that it was paired at. */
  movedTo = null;
  /** ({candidate, sdpMid}|null, revision) for each candidate of the child; null: there are no more. */
  oncandidate = () => {};
  /** (servers, as told) when a meeting place lends some. */
  onservers = () => {};
  /** () when there is still no media, and another room may do better: `accept` should throw. */
  onlate = () => {};
  /** (SessionEnd) when the child ends the session. */
  onend = () => {};

  constructor(child, identity) {
    this.#child = child;
    this.#identity = identity;
    this.#connector = new Connector(child);
  }

  /**
   * Goes from room to room until the session has media.
   * @param {(isMet: boolean) => Promise<string>} makeOffer SDP, a new one for each room; `isMet`: for a child at a meeting place
   * @param {(sdp: string) => Promise<void>} accept takes the child's SDP; done when there is media. Throws SessionEnd.
   */
  async start(makeOffer, accept) {
    for (let end; ;) {
      const line = await this.#connector.next(end);
      this.#begin(line);
      try {
        await this.#exchange(() => makeOffer(line.isMet), accept);
        return this.#connector.settle();
      } catch (error) {
        // What the child has signed is the end; all else may be the doing of the room alone.
        if (this.#isOver || signedReasons.has(error.reason)) throw error;
        end = error instanceof SessionEnd ? error : new SessionEnd("link", String(error?.message ?? error));
        this.#farewell();
      }
    }
  }

  #begin({ room, challenge, movedTo }) {
    [this.#room, this.#challenge, this.movedTo] = [room, challenge, movedTo];
    [this.#session, this.#revision, this.#restarted, this.#isTold, this.#refused, this.#bye] = [base64url(random(16)), 0, null, false, "", null];
    room.ondelivery = ({ msg }) => {
      // One after the other, as they came: verifying takes its time. What a lying room floods us with is not kept.
      if (this.#waiting >= mostWaiting) return;
      this.#waiting += 1;
      this.#order = this.#order.then(() => this.#receive(room, msg)).catch(() => {}).finally(() => (this.#waiting -= 1));
    };
    room.onservers = (servers) => this.onservers(servers);
  }

  #exchange(makeOffer, accept) {
    const room = this.#room;
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      const answer = new Promise((answered) => (this.#answered = answered));
      // Until the child has answered; a session with an answer goes on without the room.
      let isAnswered = false;
      room.onerror = ({ code, message }) => isAnswered || reject(code === "absent" ? new SessionEnd("absent") : new SessionEnd("refused", message || code));
      room.onclose = () => isAnswered || reject(new SessionEnd("closed"));
      this.#connector.onsilent = () => {
        if (isAnswered) this.onlate();
        else reject(this.#refused ? new SessionEnd("forged", this.#refused) : new SessionEnd("silent", "no answer in time"));
      };
      (async () => {
        const sdp = await makeOffer();
        if (room !== this.#room) return;
        await this.#send({ type: "offer", sdp });
        if (room !== this.#room) return;
        this.#isTold = true;
        for (const message of this.#untold.splice(0)) this.#send(message);
        // Signed beforehand: a page that is being left has no time to wait for a signature.
        this.#seal({ type: "bye", reason: "left" }).then((text) => room === this.#room && (this.#bye = text), () => {});
        const theirs = await answer;
        isAnswered = true;
        this.#connector.answered();
        await accept(theirs);
      })().then(resolve, reject);
    });
  }

  /** Those from before the offer belong to another connection. */
  forgetCandidates() {
    this.#untold = [];
  }

  /** What is reported from now on belongs to an ICE restart. */
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
    this.#farewell();
    this.#connector.close();
    this.#giveUp(new SessionEnd("left"));
  }

  #farewell() {
    if (this.#bye && this.#room.isOpen) this.#room.send(this.#child.id, this.#bye);
    this.#room?.close();
  }

  #seal(content) {
    return seal({
      ...content, from: this.#identity.id, to: this.#child.id, session: this.#session, challenge: this.#challenge,
      revision: this.#revision || undefined,
    }, this.#identity);
  }

  async #send(content) {
    const room = this.#room;
    const text = await this.#seal(content);
    if (!this.#isOver) room.send(this.#child.id, text);
  }

  async #receive(room, text) {
    if (room !== this.#room) return;
    let message;
    try {
      message = await open(text, { key: this.#child.publicKeySPKI, from: this.#child.id, to: this.#identity.id });
      if (room !== this.#room) return;
      if (message.session !== this.#session) throw new RefusedMessage("it belongs to another session");
      if (message.challenge !== this.#challenge) throw new RefusedMessage("it answers another challenge");
    } catch (error) {
      this.#refused = error instanceof RefusedMessage ? error.message : "it cannot be verified";
      return;
    }
    if (this.#isOver) return;
    switch (message.type) {
      case "answer":
        if (typeof message.sdp === "string") this.#answered(message.sdp);
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
        this.#giveUp(end);
        this.onend(end);
        break;
      }
      // What only a newer child says.
    }
  }
}
