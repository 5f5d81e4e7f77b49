import { cleanName, plain } from "./plain.js";

/**
 * Why a command was not carried out. `code`: those of interfaces/wire.md, "Data channel", and "closed" (no connection, or it
 * ended first), "timeout". `message` is the child's, in English.
 */
export class ControlError extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }
}

/** Bytes of a picture that is accepted. */
const largestTransfer = 16 * 1024 * 1024;
/** A transfer without progress for this long is given up, ms. */
const transferPatience = 15_000;
const mostPending = 64;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isList = (value) => Array.isArray(value) && value.every(isObject);

/** Members of the state and their shapes; others of a newer child are kept as they are. */
const shapes = {
  lights: isList, cameras: isList, viewers: isList, lullaby: isObject, talk: isObject, microphone: isObject,
  speaker: isObject,
};

const named = (one, member) => (member in one ? { ...one, [member]: cleanName(one[member], "") } : one);

/** Names that people chose, who may be strangers, as they may be shown. */
const names = { viewers: (list) => list.map((viewer) => named(viewer, "name")), talk: (talk) => (talk.holder ? named(talk, "holder") : talk) };

const wellFormed = (state) => Object.fromEntries(Object.entries(isObject(state) ? state : {})
  .filter(([name, value]) => shapes[name]?.(value) ?? true).map(([name, value]) => [name, names[name]?.(value) ?? value]));

const texts = (value) => new Set(Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);

/**
 * The control channel: commands and their replies, and what the child says unasked. One object for all connections to a
 * child, one after the other. interfaces/wire.md, "Data channel".
 *
 * Events, with the message's parameters as `detail`: "hello", "state" (only what changed), "level" (5 a second;
 * one on a narrow path), "heartbeat" (each second), "event", "goodbye", and "close". Nothing that a peer sends is thrown.
 */
export class Control extends EventTarget {
  #channel = null;
  #number = 0;
  #pending = new Map();
  #transfers = new Map();
  /** The parameters of the child's `hello`: {name, id, version, capabilities, permissions, viewer, state}. */
  hello = null;
  /** What is the case at the child, by member; null before the first hello. A member that was not sent again stays the
   *  same object. */
  state = null;
  permissions = new Set();
  /** Names of the commands that this child knows. */
  capabilities = new Set();
  /** The last heartbeat with `receivedAt`, ms since 1970. */
  heartbeat = null;
  /** The last {levelDb, time}. */
  level = null;
  /** When the last message came, of performance.now(). */
  heardAt = 0;

  get isOpen() {
    return this.#channel?.readyState === "open";
  }

  /** Continues with this channel, which is open; the one before is forgotten. */
  attach(channel) {
    this.detach();
    this.#channel = channel;
    this.heardAt = performance.now();
    channel.onmessage = ({ data }) => {
      if (channel !== this.#channel) return;
      this.heardAt = performance.now();
      if (typeof data === "string") this.#receive(data);
      else this.#receivePiece(data);
    };
    channel.onclose = () => {
      if (channel === this.#channel) this.detach();
    };
  }

  /** Lets go of the channel, if it is this one: what waits for a reply fails. */
  detach(channel = this.#channel) {
    if (!channel || channel !== this.#channel) return;
    channel.onmessage = channel.onclose = null;
    this.#channel = null;
    for (const { fail } of [...this.#pending.values(), ...this.#transfers.values()]) fail(new ControlError("closed"));
    this.#tell("close");
  }

  /**
   * Gives a command.
   * @param {string} text such as "light.set"
   * @param {object} parameters
   * @param {{timeout?: number}} options ms
   * @returns {Promise<object>} the reply's parameters. Throws ControlError.
   */
  request(text, parameters = {}, { timeout = 8000 } = {}) {
    return this.#order(text, parameters, timeout, (reply) => reply);
  }

  /**
   * A still at the camera's own resolution.
   * @param {{camera?: string, quality?: number}} options
   * @returns {Promise<{blob: Blob, width: number, height: number}>} throws ControlError
   */
  async screenshot(options = {}) {
    const { received } = await this.#order("screenshot.take", options, transferPatience, (reply) => ({
      // Begins with the reply, before the first piece can come.
      received: this.#begin(reply),
    }));
    return received;
  }

  /**
   * A piece of a recording, from this byte on.
   * @returns {Promise<{blob: Blob, total: number}>} throws ControlError
   */
  async recording(id, offset = 0) {
    const { received } = await this.#order("recordings.read", { id, offset }, transferPatience, (reply) => ({ received: this.#begin(reply) }));
    return received;
  }

  async #order(text, parameters, timeout, followed) {
    if (!this.isOpen) throw new ControlError("closed");
    if (this.#pending.size >= mostPending) throw new ControlError("busy");
    const id = String((this.#number += 1));
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        settle(value);
      };
      const timer = setTimeout(() => end(reject, new ControlError("timeout")), timeout);
      this.#pending.set(id, { succeed: (reply) => end(resolve, followed(reply)), fail: (error) => end(reject, error) });
      try {
        this.#channel.send(JSON.stringify({ id, text, parameters }));
      } catch (error) {
        end(reject, new ControlError("closed", String(error?.message ?? error)));
      }
    });
  }

  #tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #receive(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (!isObject(message)) return;
    const parameters = isObject(message.parameters) ? message.parameters : {};
    switch (message.text) {
      case "ok":
        this.#pending.get(message.inReplyTo)?.succeed(parameters);
        break;
      case "error":
        this.#pending.get(message.inReplyTo)?.fail(
          new ControlError(plain(parameters.code) || "internal", plain(parameters.message)));
        break;
      case "hello":
        this.hello = named(parameters, "name");
        this.state = wellFormed(parameters.state);
        this.permissions = texts(parameters.permissions);
        this.capabilities = texts(parameters.capabilities);
        this.#tell("hello", this.hello);
        break;
      case "state": {
        const changes = wellFormed(parameters);
        this.state = { ...this.state, ...changes };
        this.#tell("state", changes);
        break;
      }
      case "heartbeat":
        this.heartbeat = { ...parameters, receivedAt: Date.now() };
        this.#tell("heartbeat", this.heartbeat);
        break;
      case "level":
        if (typeof parameters.levelDb !== "number") break;
        this.level = parameters;
        this.#tell("level", parameters);
        break;
      case "event":
        if (typeof parameters.kind === "string") this.#tell("event", parameters);
        break;
      case "goodbye":
        this.#tell("goodbye", { reason: plain(parameters.reason) });
        break;
      // What only a newer child says.
    }
  }

  #begin({ transfer, size, type, width, height, total }) {
    return new Promise((resolve, reject) => {
      if (!Number.isInteger(transfer) || !Number.isInteger(size) || size < 1 || size > largestTransfer) {
        return reject(new ControlError("internal", "its size is none"));
      }
      let timer;
      const end = (settle, value) => {
        clearTimeout(timer);
        this.#transfers.delete(transfer);
        settle(value);
      };
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => end(reject, new ControlError("timeout")), transferPatience);
      };
      const pieces = [];
      let missing = size;
      wait();
      this.#transfers.set(transfer, {
        fail: (error) => end(reject, error),
        add: (piece) => {
          missing -= piece.byteLength;
          pieces.push(piece);
          if (missing < 0) return end(reject, new ControlError("internal", "it is longer than announced"));
          if (missing > 0) return wait();
          const blob = new Blob(pieces, { type: ["image/jpeg", "video/webm"].includes(type) ? type : "application/octet-stream" });
          end(resolve, { blob, width: Number(width) || 0, height: Number(height) || 0, total: Number(total) || 0 });
        },
      });
    });
  }

  #receivePiece(data) {
    if (!(data instanceof ArrayBuffer) || data.byteLength <= 4) return;
    this.#transfers.get(new DataView(data).getUint32(0))?.add(data.slice(4));
  }
}
