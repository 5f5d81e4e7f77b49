import { Arrivals } from "./arrivals.js";
import { readAway, readOrigins } from "./away.js";
import { SoundBuffer } from "./buffer.js";
import { Control } from "./control.js";
import { Session } from "./session.js";
import { Wakes } from "./wakes.js";

/** Waiting times before each further try, ms. */
const retryDelays = [0, 500, 1000, 2000, 4000, 8000];
/** Without data for this long the connection is given up, ms. */
const silence = 2500;
/** ICE may look for the child for this long, ms. */
const weakness = 1500;
/** After this page was stopped (frozen, asleep), data has to come within this time, ms: the child speaks five times a second. */
const wakePatience = 350;
/** A new connection takes over from one that lives with its first media, or after this long, ms. */
const overlap = 1000;
const tickInterval = 500;

/** Refusals after which trying again is of no use. */
const finalReasons = new Set(["not-paired", "expired", "token", "no-webrtc"]);
const toldReasons = new Set([...finalReasons, "busy", "not-acceptable", "forged", "unreachable", "socket", "absent", "no-path", "no-relay"]);

/**
 * Stays connected to one child for good. Reconnects make before they break: a new session is set up, and takes over when
 * its media flows.
 *
 * Events: "change" (phase, refusal, tracks, plannedStop), "statistics" (each second), "arrival" (twice a second, while data
 * comes), and those of `control`.
 */
export class Watcher extends EventTarget {
  #options;
  /** The session whose media is shown, and the one that is being set up. */
  #current = null;
  #next = null;
  #tries = 0;
  #timers = {};
  #tick = null;
  #tickedAt = 0;
  #arrivals = new Arrivals();
  #buffer = new SoundBuffer();
  #wakes;
  #audioOnly = false;
  #isSmall = false;
  #microphone = null;
  /** Why it reconnected last: "online", "wake", "weak", "silence", "audio only", "picture", "microphone" or a screen's own word. */
  lastReconnect = null;
  /** @type {"connecting"|"live"|"reconnecting"|"stopped"|"refused"} */
  phase = "stopped";
  /** ms since 1970 of the phase's begin. */
  since = Date.now();
  /** Why the last try failed: {reason, text, said?} as `SessionEnd`; the phase says whether more follow. */
  refusal = null;
  /** {reason, at} from a planned stop of the child to its next hello. */
  plannedStop = null;
  /** The same objects for the watcher's life; their tracks change. */
  picture = new MediaStream();
  sound = new MediaStream();
  control = new Control();
  /** performance.now() of the start, and of the session that is shown. */
  times = { started: 0, session: null };

  /** @param {Child} child @param {{identity: Identity, store: Store}} options */
  constructor(child, options) {
    super();
    this.child = child;
    this.#options = options;
    for (const name of ["state", "level", "heartbeat", "event", "close"]) {
      this.control.addEventListener(name, ({ detail }) => this.#tell(name, detail));
    }
    this.control.addEventListener("hello", ({ detail }) => this.#greeted(detail));
    this.control.addEventListener("goodbye", ({ detail }) => {
      this.#stoppedAsPlanned(detail.reason);
      this.#changed();
    });
    this.#wakes = new Wakes({
      online: () => this.reconnect("online"), wake: () => this.#woke(), hide: () => this.#left(),
    });
  }

  start() {
    if (this.phase !== "stopped" && this.phase !== "refused") return;
    this.times.started = performance.now();
    this.#tries = 0;
    this.refusal = null;
    this.#enter("connecting");
    this.#wakes.begin();
    this.#tickedAt = performance.now();
    this.#tick ??= setInterval(() => this.#ticked(), tickInterval);
    this.#open();
  }

  /** Ends for good; the child is notified. */
  stop() {
    if (this.phase !== "refused") this.#enter("stopped");
    this.#end();
    this.#changed();
  }

  /** A new session at once, beside the one there is. */
  reconnect(reason) {
    if (this.phase === "stopped" || this.phase === "refused") return;
    this.lastReconnect = reason;
    this.#tries = 0;
    this.#open();
  }

  /** When a decoded picture, sound or anything at all came last, ms since 1970; 0: never. */
  get pictureAt() {
    return this.#arrivals.pictureAt;
  }

  get soundAt() {
    return this.#arrivals.soundAt;
  }

  get dataAt() {
    return this.#arrivals.dataAt;
  }

  /** @type {Statistics|null} */
  get statistics() {
    return this.#arrivals.statistics;
  }

  /** Whether the connection that is shown was made at a meeting place: the page is not at home. */
  get isMet() {
    return this.#current?.isMet ?? false;
  }

  /** The address at which the connection that is shown was made, where it is not the child's own as paired; else null. */
  get movedTo() {
    return this.#current?.movedTo ?? null;
  }

  /** Whether pictures are not even sent. */
  get audioOnly() {
    return this.#audioOnly;
  }

  set audioOnly(value) {
    if (this.#audioOnly === Boolean(value)) return;
    this.#audioOnly = Boolean(value);
    this.reconnect("audio only");
    this.#changed();
  }

  /** Whether the smallest rendition of the picture is enough. */
  set isSmall(value) {
    if (this.#isSmall === value) return;
    this.#isSmall = value;
    if (!this.#audioOnly) this.reconnect("picture");
  }

  /** Whether sound waits longer, for a path with blackouts. */
  get steadySound() {
    return this.#buffer.isSteady;
  }

  set steadySound(value) {
    this.#buffer.isSteady = Boolean(value);
    this.#buffer.apply(this.#current?.connection, performance.now());
  }

  /** Sends this microphone to the child, which plays it while this page has the floor; null: silence. */
  setMicrophone(track) {
    this.#microphone = track;
    if (track && this.#current && !this.#current.canTalk) return this.reconnect("microphone");
    this.#current?.setMicrophone(track);
    this.#next?.setMicrophone(track);
  }

  #tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #changed() {
    this.#tell("change");
  }

  #enter(phase) {
    if (this.phase === phase) return;
    this.phase = phase;
    this.since = Date.now();
  }

  #after(name, delay, action) {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = setTimeout(action, delay);
  }

  #end() {
    this.#wakes.end();
    clearInterval(this.#tick);
    this.#tick = null;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#drop();
  }

  #follow(session) {
    this.#current = session;
    this.#arrivals.follow(session?.connection ?? null);
    this.#buffer.apply(session?.connection, performance.now());
  }

  #drop() {
    for (const session of [this.#next, this.#current]) session?.close();
    this.#next = null;
    this.#follow(null);
    this.control.detach();
  }

  // MARK: Sessions

  #open() {
    clearTimeout(this.#timers.retry);
    this.#next?.close();
    const { identity } = this.#options;
    const { permissions = [], token } = this.child;
    if (typeof globalThis.RTCPeerConnection !== "function") return this.#refused({ reason: "no-webrtc", text: "" });
    let session;
    try {
      session = new Session(this.child, {
        identity, audioOnly: this.#audioOnly || !(token || permissions.includes("view")), isSmall: this.#isSmall,
        wantsTalk: Boolean(token) || permissions.includes("talk"), microphone: this.#microphone,
      });
    } catch (error) {
      // A private window that forbids it.
      return this.#failed({ reason: "not-acceptable", text: String(error?.message ?? error) });
    }
    this.#next = session;
    session.ontrack = (track) => this.#gotTrack(session, track);
    session.onchannel = () => this.control.attach(session.channel);
    session.onconnected = () => this.#connected(session);
    session.onweak = () => {
      if (session === this.#current) this.#after("weak", weakness, () => this.reconnect("weak"));
    };
    session.onover = (end) => this.#over(session, end);
    session.start();
  }

  #gotTrack(session, track) {
    // With nothing on the screen yet, the first picture is shown as soon as it comes.
    if (!this.#current) this.#show(session);
    else track.onunmute = () => this.#takeOver(session);
  }

  #connected(session) {
    if (session === this.#next) {
      const isAlive = this.#current && Date.now() - this.dataAt < overlap;
      if (isAlive) this.#after("overlap", overlap, () => this.#takeOver(session));
      else this.#takeOver(session);
    }
    if (session !== this.#current) return;
    clearTimeout(this.#timers.weak);
    this.#live();
  }

  #live() {
    this.#tries = 0;
    this.refusal = null;
    this.#arrivals.dataAt = Date.now();
    this.#enter("live");
    this.#changed();
  }

  /** The new session replaces the one before. */
  #takeOver(session) {
    if (session !== this.#next) return;
    clearTimeout(this.#timers.overlap);
    clearTimeout(this.#timers.weak);
    const before = this.#current;
    this.#next = null;
    this.#follow(session);
    this.times.session = session.times;
    this.#show(session);
    before?.close();
    if (session.connection.connectionState === "connected") this.#live();
  }

  /** Puts the session's tracks into `picture` and `sound`. */
  #show(session) {
    showTracks(session.connection, { video: this.picture, audio: this.sound });
    this.#changed();
  }

  #over(session, end) {
    if (session === this.#next) this.#next = null;
    else if (session === this.#current) {
      this.#follow(null);
      // The new session may have it already.
      this.control.detach(session.channel);
      if (this.phase === "live") this.#enter("reconnecting");
    } else return;
    if (finalReasons.has(end.reason)) return this.#refused(end);
    // The child's goodbye on the data channel may have been lost.
    if (end.reason === "going-away") this.#stoppedAsPlanned(end.text);
    if (this.#next) return this.#changed();
    this.#failed(end);
  }

  #refused({ reason, text }) {
    this.refusal = { reason, text };
    this.#enter("refused");
    this.#end();
    this.#changed();
  }

  #failed({ reason, text, said = [] }) {
    this.refusal = toldReasons.has(reason) ? { reason, text, said } : this.refusal;
    const delay = retryDelays[Math.min(this.#tries, retryDelays.length - 1)];
    this.#tries += 1;
    this.#after("retry", delay, () => this.#open());
    this.#changed();
  }

  #stoppedAsPlanned(reason) {
    this.plannedStop = { reason, at: Date.now() };
    this.#tell("goodbye", { reason });
  }

  #greeted(hello) {
    this.plannedStop = null;
    this.child.permissions = [...this.control.permissions];
    if (typeof hello.name === "string" && hello.name) this.child.name = hello.name;
    if (!this.child.token) this.child.away = readAway(hello.away);
    if (!this.child.token) this.child.origins = readOrigins(hello.origins);
    this.#options.store?.noteHello(this.child).catch(() => {});
    this.#tell("hello", hello);
    this.#changed();
  }

  // MARK: Watching the connection

  #left() {
    this.#drop();
    if (this.phase === "live") this.#enter("reconnecting");
  }

  /** The page is shown, or runs again: the connection has to prove that it lives. */
  #woke() {
    if (this.phase === "stopped" || this.phase === "refused") return;
    const session = this.#current;
    const isConnected = session?.connection.connectionState === "connected";
    if (!isConnected) return this.#next && this.#tries === 0 ? undefined : this.reconnect("wake");
    const heardAt = this.control.heardAt;
    this.#after("wake", wakePatience, () => {
      if (this.#current === session && this.control.heardAt === heardAt) this.reconnect("wake");
    });
  }

  #ticked() {
    const now = performance.now();
    const slept = now - this.#tickedAt > tickInterval * 4;
    this.#tickedAt = now;
    if (this.#arrivals.poll(this.control.heardAt)) this.#came();
    if (slept) return this.#woke();
    this.#arrivals.measure(this.control.heartbeat?.video).then((statistics) => statistics && this.#measured(statistics));
    if (this.phase === "live" && Date.now() - this.dataAt > silence && !this.#next) {
      this.#enter("reconnecting");
      this.#changed();
      this.reconnect("silence");
    }
  }

  #measured(statistics) {
    const now = performance.now();
    this.#buffer.note(statistics.lossPercent, now);
    this.#buffer.apply(this.#current?.connection, now);
    this.#tell("statistics", statistics);
  }

  #came() {
    if (this.phase === "reconnecting" && this.#current?.connection.connectionState === "connected") this.#live();
    this.#tell("arrival");
  }
}

/** The kinds that the child sends in this session. */
function received(connection) {
  const transceivers = connection.getTransceivers();
  const sent = transceivers.filter(({ currentDirection }) => /recv/.test(currentDirection ?? ""));
  // While the answer is being applied, no direction is agreed yet.
  return (sent.length > 0 ? sent : transceivers).map(({ receiver }) => receiver.track);
}

/**
 * Puts the tracks that a connection receives into the streams, and takes out those of the connection before.
 * @param {RTCPeerConnection} connection
 * @param {{video: MediaStream, audio: MediaStream}} streams
 */
function showTracks(connection, streams) {
  const tracks = received(connection);
  for (const [kind, stream] of Object.entries(streams)) {
    const wanted = tracks.filter((track) => track.kind === kind);
    for (const track of wanted) if (!stream.getTracks().includes(track)) stream.addTrack(track);
    for (const track of stream.getTracks()) if (!wanted.includes(track)) stream.removeTrack(track);
  }
}
