import { plain } from "./plain.js";

/** How long the socket and the registration may take together, ms. */
const registrationPatience = 5000;

/** The longest frame, with the messages that waited: whoever runs the room does not stop the page, and with it the alarm, by a long one. */
const longest = 1 << 20;
const mostWaiting = 64;

/** Why a room cannot be used. `code`: "unreachable", "timeout", "closed", "unusable" (it does not speak as a room does), "absent", or the room's own, interfaces/wire.md, "Rooms". */
export class RoomError extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }
}

/**
 * A client of a child's room, over WebSocket: the child's own, or one at a meeting place. What comes through it is signed;
 * the room itself proves nothing.
 */
export class Room {
  #socket;
  #registered;
  #timer;
  #isOpen = false;
  /** ({from, msg}) for each message. */
  ondelivery = () => {};
  /** (RoomError) once, after the registration, when the connection has ended by itself. */
  onclose = () => {};
  /** (RoomError) for each error that the room tells; "absent": the child does not answer there. */
  onerror = () => {};
  /** (servers, as told) when the child has vouched for us at a meeting place that lends STUN and TURN servers. */
  onservers = () => {};

  /**
   * Connects and registers in one go.
   * @param {string} url wss://HOST:PORT/PATH
   * @param {string} room the child's id
   * @param {string} client a random name, for this connection alone
   * @returns {Promise<{challenge: string, present: string?, absent: boolean?}>} the last two at meeting places, `present` the
   * child's signed presence. Throws RoomError.
   */
  register(url, room, client) {
    return new Promise((resolve, reject) => {
      this.#registered = { resolve, reject, room, client };
      this.#timer = setTimeout(() => this.#end(new RoomError("timeout")), registrationPatience);
      try {
        this.#socket = new WebSocket(url);
      } catch (error) {
        return this.#end(new RoomError("unreachable", String(error?.message ?? error)));
      }
      this.#socket.onopen = () => this.#write({ cmd: "register", roomid: room, clientid: client });
      this.#socket.onmessage = ({ data }) => this.#read(data);
      this.#socket.onclose = () => this.#end(new RoomError(this.#isOpen ? "closed" : "unreachable"));
    });
  }

  /** Whether messages can be sent. */
  get isOpen() {
    return this.#isOpen && this.#socket.readyState === WebSocket.OPEN;
  }

  /** @param {string} to a client of the room @param {string} message a compact JWS */
  send(to, message) {
    this.#write({ cmd: "send", to, msg: message });
  }

  /** Closes the connection; nothing is called after it. */
  close() {
    this.ondelivery = this.onclose = this.onerror = this.onservers = () => {};
    this.#end(new RoomError("closed"));
  }

  #write(request) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  #read(data) {
    if (typeof data !== "string" || data.length > longest) return this.#end(new RoomError("unusable", "a message of the room is too long"));
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (message?.registered && !this.#isOpen) {
      const { roomid, clientid, challenge, messages } = message.registered;
      const { room, client } = this.#registered;
      if (roomid !== room || clientid !== client || typeof challenge !== "string") return this.#end(new RoomError("unusable", "it confirms another registration"));
      clearTimeout(this.#timer);
      this.#isOpen = true;
      this.#registered.resolve(message.registered);
      if (Array.isArray(messages)) messages.slice(0, mostWaiting).forEach((waiting) => this.#deliver(waiting));
    } else if (message?.error) {
      const { code, message: words } = message.error;
      const error = new RoomError(plain(code), plain(words, 200));
      if (!this.#isOpen) return this.#end(error);
      this.onerror(error);
    } else if (message?.presence === null) {
      this.onerror(new RoomError("absent"));
    } else if (message?.vouched) {
      this.onservers(message.vouched.iceServers);
    } else {
      this.#deliver(message);
    }
  }

  #deliver(message) {
    if (typeof message?.from === "string" && typeof message.msg === "string") this.ondelivery(message);
  }

  #end(error) {
    clearTimeout(this.#timer);
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const socket = this.#socket;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    if (wasOpen) this.onclose(error);
    else this.#registered?.reject(error);
  }
}
