import { meetingSockets, otherOrigins } from "./away.js";
import { base64url, random } from "./bytes.js";
import { openPresence, RefusedMessage } from "./jws.js";
import { Room, RoomError } from "./room.js";

/** Why there is no session, or none any more. `reason`: see `Session.onover`. */
export class SessionEnd extends Error {
  constructor(reason, text = "") {
    super(text || reason);
    this.reason = reason;
    this.text = text;
  }
}

/** At home an answer takes a fraction of this, and nobody outside is asked, ms. */
const headStart = 300;

/** Which failure is told where there are several. */
const gravest = ["busy", "forged", "socket", "absent", "unreachable"];
/** How long the child may take to answer a request where it accepts no WebSocket, ms. */
const probePatience = 3000;

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

/**
 * Reaches a paired child: at the address that it was paired at, and soon after that at others that it has named in its home and
 * at its meeting places. The first room where it is wins, the others are left. As ChildConnector.swift.
 */
export class Connector {
  #child;
  #rooms = new Set();
  #isOver = false;

  constructor(child) {
    this.#child = child;
  }

  /**
   * @returns {Promise<{room: Room, challenge: string, isMet: boolean, movedTo?: string}>} the challenge for the offer; `isMet`: at a
   * meeting place; `movedTo`: at another address of its home. Throws SessionEnd.
   */
  async reach() {
    const { origin } = this.#child;
    const own = this.#enter(socketOf(origin), ({ challenge }) => ({ challenge, isMet: false })).catch(async (error) => {
      // iPhones open a page past the warning, and may refuse its WebSocket all the same.
      throw error.code === "unreachable" && await answers(origin) ? new SessionEnd("socket") : error;
    });
    const sockets = meetingSockets(this.#child);
    const others = otherOrigins(this.#child);
    if (sockets.length + others.length > 0) {
      await Promise.race([own.catch(() => {}), new Promise((done) => setTimeout(done, headStart))]);
    }
    const meetings = this.#isOver ? [] : sockets.map((url) => this.#enter(url, (registered) => this.#meet(registered)).catch((error) => {
      // It does not know this child.
      throw error.code === "no-such-room" ? new SessionEnd("absent", error.message) : error;
    }));
    // Whoever answers there has to sign with the child's key, as everywhere.
    const moved = this.#isOver ? [] : others.map((movedTo) => this.#enter(socketOf(movedTo), ({ challenge }) => ({ challenge, isMet: false, movedTo })).catch(() => {
      throw new SessionEnd("unreachable");
    }));
    try {
      return await Promise.any([own, ...meetings, ...moved]);
    } catch ({ errors }) {
      const ends = errors.map(sessionEnd);
      throw gravest.map((reason) => ends.find((end) => end.reason === reason)).find(Boolean);
    }
  }

  /** Gives up. */
  close() {
    this.#leave(null);
  }

  #leave(chosen) {
    this.#isOver = true;
    for (const room of this.#rooms) if (room !== chosen) room.close();
    this.#rooms.clear();
  }

  async #enter(url, check) {
    const room = new Room();
    this.#rooms.add(room);
    try {
      // The name is for this connection alone, and nobody else can guess it.
      const found = await check(await room.register(url, this.#child.id, base64url(random(16))));
      if (this.#isOver || !room.isOpen) throw new RoomError("closed");
      this.#leave(room);
      return { room, ...found };
    } catch (error) {
      room.close();
      throw error;
    }
  }

  /** Whoever runs the place cannot choose the challenge: the child has signed it. */
  async #meet({ present }) {
    if (typeof present !== "string") throw new SessionEnd("absent");
    return { challenge: await openPresence(present, this.#child), isMet: true };
  }
}

function sessionEnd(error) {
  if (error instanceof SessionEnd) return error;
  if (error instanceof RefusedMessage) return new SessionEnd("forged", `its presence: ${error.message}`);
  if (!(error instanceof RoomError)) return new SessionEnd("unreachable", String(error?.message ?? error));
  // A child of this address that does not host this room is another child, or has a new key.
  if (error.code === "no-such-room") return new SessionEnd("forged", "another child answers at this address");
  return new SessionEnd(error.code === "full" ? "busy" : "unreachable", error.message);
}
