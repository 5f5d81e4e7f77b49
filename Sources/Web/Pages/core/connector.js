import { meetingSockets, otherOrigins } from "./away.js";
import { base64url, random } from "./bytes.js";
import { openPresence, RefusedMessage } from "./jws.js";
import { Race } from "./race.js";
import { Room, RoomError } from "./room.js";

/** Why there is no session, or none any more. `reason`: see `Session.onover`. */
export class SessionEnd extends Error {
  /** What each meeting place said, where all have failed: {place: host, reason, text}. */
  said = [];

  constructor(reason, text = "") {
    super(text || reason);
    this.reason = reason;
    this.text = text;
  }
}

/** Which failure is shown where there are several; of others the last one. */
const gravest = ["no-relay", "no-path", "link", "busy", "forged", "socket", "absent", "unreachable"];
/** Of the race, ms. */
const tick = 100;
/** How long the child may take to answer a request where it accepts no WebSocket, ms. */
const probePatience = 3000;

/** As `Race` has them, for the page's run. */
const failures = new Map();

const socketOf = (origin) => `${origin.replace(/^http/, "ws")}/signal`;

/** Whether the child answers HTTPS at this address. Other origins are asked without a look at the answer. */
async function answers(origin) {
  try {
    await fetch(`${origin}/healthz`, { mode: "no-cors", cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(probePatience) });
    return true;
  } catch {
    return false;
  }
}

/** Reaches a paired child at the address of its pairing, at others in its home, and at its meeting places, as `Race` decides. As ChildConnector.swift. */
export class Connector {
  #child;
  #lines;
  #race = null;
  #ticks = null;
  /** The caller of `next`, and what it gets. */
  #asking = null;
  #isOver = false;
  /** () when the room in use has had its time; `next` should follow. */
  onsilent = () => {};

  constructor(child) {
    this.#child = child;
    this.#lines = [
      ...[child.origin, ...otherOrigins(child)].map((origin) => ({ url: socketOf(origin), origin, isOwn: true })),
      ...meetingSockets(child).map((url) => ({ url, isOwn: false })),
    ];
  }

  /**
   * @param {SessionEnd} [end] why the room that was used last is of no use
   * @returns {Promise<{room: Room, challenge: string, isMet: boolean, movedTo: string?}>} the next room to use; the challenge for the offer;
   * `isMet`: at a meeting place; `movedTo`: at another address of its home. Throws SessionEnd once no room is left.
   */
  next(end) {
    return new Promise((resolve, reject) => {
      this.#asking = { resolve, reject };
      if (this.#race) return this.#failed(this.#race.current, end);
      this.#race = new Race(this.#lines, failures, performance.now());
      this.#ticks = setInterval(() => this.#step(), tick);
      this.#step();
    });
  }

  answered() {
    this.#race.answered(performance.now());
  }

  /** The session has media. */
  settle() {
    this.#race.settled();
    this.#leave(this.#race.current);
  }

  /** Gives up. */
  close() {
    this.#leave(null);
  }

  #leave(kept) {
    this.#isOver = true;
    clearInterval(this.#ticks);
    for (const line of this.#lines) if (line !== kept) line.room?.close();
  }

  #step() {
    if (this.#isOver) return;
    const { open, use, isSilent, isOver } = this.#race.step(performance.now());
    for (const line of open) this.#open(line);
    if (use) this.#asking.resolve(use);
    if (isSilent) this.onsilent();
    if (!isOver) return;
    this.close();
    this.#asking.reject(this.#end());
  }

  #failed(line, end) {
    if (this.#isOver) return;
    line.room.close();
    line.end = end;
    this.#race.failed(line, performance.now());
    this.#step();
  }

  async #open(line) {
    const { url, origin, isOwn } = line;
    const isMoved = isOwn && origin !== this.#child.origin;
    const room = (line.room = new Room());
    try {
      // The name is for this connection alone, and nobody else can guess it.
      const registered = await room.register(url, this.#child.id, base64url(random(16)));
      const challenge = isOwn ? registered.challenge : await this.#met(registered);
      if (!room.isOpen) throw new RoomError("closed");
      Object.assign(line, { challenge, isMet: !isOwn, movedTo: isMoved ? origin : null });
      room.onclose = () => this.#failed(line, new SessionEnd("closed"));
      this.#race.opened(line, performance.now());
      this.#step();
    } catch (error) {
      // iPhones open a page past the warning, and may refuse its WebSocket all the same.
      const isRefused = isOwn && !isMoved && error.code === "unreachable" && await answers(origin);
      const end = isRefused ? new SessionEnd("socket") : sessionEnd(error, isOwn);
      // Whoever is at another address that the child had may be anybody.
      this.#failed(line, isMoved ? new SessionEnd("unreachable", end.text) : end);
    }
  }

  /** Whoever runs the place cannot choose the challenge: the child has signed it. */
  #met({ present }) {
    if (typeof present !== "string" || !present) throw new SessionEnd("absent");
    return openPresence(present, this.#child);
  }

  #end() {
    const ends = this.#lines.map(({ end }) => end);
    const { reason, text } = gravest.map((reason) => ends.find((end) => end.reason === reason)).find(Boolean) ?? { reason: "unreachable", text: ends[0].text };
    const end = new SessionEnd(reason, text);
    end.said = this.#lines.filter(({ isOwn }) => !isOwn).map(({ url, end: { reason, text } }) => ({ place: new URL(url).host, reason, text }));
    return end;
  }
}

/** Why a room is of no use. */
function sessionEnd(error, isOwn) {
  if (error instanceof SessionEnd) return error;
  if (error instanceof RefusedMessage) return new SessionEnd("forged", `its presence: ${error.message}`);
  const { code = "unreachable", message } = error;
  // A child of this address that does not host this room is another child, or has a new key. A place does not know the child.
  if (code === "no-such-room") return isOwn ? new SessionEnd("forged", "another child answers at this address") : new SessionEnd("absent");
  if (code === "full") return new SessionEnd("busy", message);
  return ["unreachable", "timeout", "closed", "unusable"].includes(code) ? new SessionEnd(code, message) : new SessionEnd("refused", message || code);
}
