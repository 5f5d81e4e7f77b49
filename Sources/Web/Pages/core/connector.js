import { meetingSockets } from "./away.js";
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
const gravest = ["busy", "forged", "absent", "unreachable"];

/**
 * Reaches a paired child: at its own address, and soon after that at its meeting places. The first room where it is wins, the
 * others are left. As ChildConnector.swift.
 */
export class Connector {
  #child;
  #rooms = new Set();
  #isOver = false;

  constructor(child) {
    this.#child = child;
  }

  /**
   * @returns {Promise<{room: Room, challenge: string, isMet: boolean}>} the challenge for the offer; `isMet`: at a meeting
   * place. Throws SessionEnd.
   */
  async reach() {
    const own = this.#enter(`${this.#child.origin.replace(/^http/, "ws")}/signal`, ({ challenge }) => ({ challenge, isMet: false }));
    const sockets = meetingSockets(this.#child);
    if (sockets.length > 0) {
      await Promise.race([own.catch(() => {}), new Promise((done) => setTimeout(done, headStart))]);
    }
    const meetings = this.#isOver ? [] : sockets.map((url) => this.#enter(url, (registered) => this.#meet(registered)).catch((error) => {
      // It does not know this child.
      throw error.code === "no-such-room" ? new SessionEnd("absent", error.message) : error;
    }));
    try {
      return await Promise.any([own, ...meetings]);
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
