import { isLive } from "../core/arrivals.js";
import { Ear } from "../core/ear.js";
import { Monitor } from "../core/monitor.js";
import { cleanName } from "../core/plain.js";
import { Sound } from "../core/sound.js";
import { Watcher } from "../core/watcher.js";
import { t } from "../texts/texts.js";
import { notice } from "./notices.js";
import { problemText } from "./problems.js";
import { tellDrills } from "./drills.js";
import { h } from "./dom.js";

/** What a child lacks that does not support a command; the others need a speaker. */
const lacking = { light: "light", camera: "camera", screenshot: "camera" };
const stillWidth = 480;
const stillMilliseconds = 60_000;

/**
 * One child that is being watched: its watcher, sound and alarm, and what the screens derive from them. Dispatches "update"
 * when anything shown may have changed (at most once a task, and twice a second), and "level" five times a second.
 */
export class Watching extends EventTarget {
  #stamps = new Map();
  /** Minutes chosen for what is off; lights by id. */
  chosen = { lullaby: 30, lights: new Map() };
  /** The browser does not keep the screen on. */
  screenTurnsOff = false;
  #isUpdating = false;
  #tick;
  #stillAt = 0;
  #firstAt = 0;
  #leaving = new AbortController();

  /** @param {Child} child @param {{store: Store, identity: Identity, settings: Object}} app @param {boolean} isSmall is it shown small at first? */
  constructor(child, app, isSmall = false) {
    super();
    this.child = child;
    this.app = app;
    this.video = h("video", { playsinline: true, autoplay: true, muted: true, "aria-hidden": "true", disableremoteplayback: true });
    this.video.muted = true;
    this.watcher = new Watcher(child, { identity: app.identity, store: app.store });
    this.watcher.isSmall = isSmall;
    this.watcher.steadySound = app.settings.steadySound;
    this.sound = new Sound(this.watcher);
    this.sound.boost = app.settings.boost;
    this.monitor = new Monitor(this.watcher, { video: this.video, sound: this.sound, limits: app.alarmLimits() });
    this.ear = new Ear(this.watcher, () => this.monitor.context);
    this.video.srcObject = this.watcher.picture;
    const signal = this.#leaving.signal;
    for (const name of ["change", "hello", "state", "event", "goodbye", "close"]) {
      this.watcher.addEventListener(name, () => this.update(), { signal });
    }
    this.watcher.addEventListener("event", (event) => this.dispatchEvent(new CustomEvent("event", { detail: event.detail })), { signal });
    this.watcher.addEventListener("statistics", () => this.#count(), { signal });
    this.watcher.addEventListener("level", () => this.dispatchEvent(new Event("level")), { signal });
    this.sound.addEventListener("change", () => this.update(), { signal });
    this.monitor.addEventListener("change", () => this.update(), { signal });
    // The first picture counts at once, later ones with the statistics of each second.
    this.video.addEventListener("loadeddata", () => this.#arrived(), { signal });
    this.#tick = setInterval(() => this.update(), 500);
    // Whatever is tapped, from then on the browser lets the page play.
    addEventListener("click", () => this.sound.isBlocked && this.play(), { signal });
    tellDrills(this, signal);
    this.watcher.start();
  }

  /** Starts the sound, inside a tap; from then on an alarm may sound, too. */
  play() {
    this.monitor.unlock();
    this.sound.play();
  }

  /** Takes over what was changed in the settings. */
  followSettings() {
    this.monitor.limits = this.app.alarmLimits();
    this.watcher.steadySound = this.app.settings.steadySound;
    if (this.sound.boost !== this.app.settings.boost) this.sound.boost = this.app.settings.boost;
  }

  /** Ends watching; the child is notified. */
  stop() {
    this.#leaving.abort();
    clearInterval(this.#tick);
    this.keepStill();
    this.ear.close();
    this.monitor.close();
    this.sound.close?.();
    this.watcher.stop();
    this.video.srcObject = null;
  }

  update() {
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    queueMicrotask(() => {
      this.#isUpdating = false;
      if (!this.#leaving.signal.aborted) this.dispatchEvent(new Event("update"));
    });
  }

  #arrived() {
    if (this.watcher.audioOnly) return;
    this.#firstAt = Date.now();
    this.update();
  }

  #count() {
    if (this.isLive && Date.now() - this.#stillAt > stillMilliseconds) this.keepStill();
    this.update();
  }

  /** Time of the last decoded picture, ms since 1970; 0: none. The watcher counts them; the first one is reported at once. */
  get pictureAt() {
    return Math.max(this.#firstAt, this.watcher.pictureAt);
  }

  get control() {
    return this.watcher.control;
  }

  /** The child's state as it said last, {} before its hello. */
  get state() {
    return this.control.state ?? {};
  }

  get name() {
    return this.control.hello?.name || cleanName(this.child.name, "") || new URL(this.child.origin).host;
  }

  /** Pictures (sound, with audio only) arrive now. */
  get isLive() {
    const { phase, audioOnly, dataAt, soundAt } = this.watcher;
    return isLive({ phase, audioOnly, hasNoCamera: this.hasNoCamera, dataAt, pictureAt: this.pictureAt, soundAt }, Date.now());
  }

  /** Of the camera that is shown, as the child said last: "missing", "off" (paused) … */
  get cameraState() {
    return this.watcher.phase === "live" ? this.state.cameras?.find(({ active }) => active)?.state : undefined;
  }

  get hasNoCamera() {
    return ["missing", "off"].includes(this.cameraState);
  }

  /** The child says that this page is talking. */
  get isTalking() {
    const { holder, viewer } = this.state.talk ?? {};
    return Boolean(holder || viewer) && viewer === this.control.hello?.viewer;
  }

  get permissions() {
    return this.control.permissions ?? new Set();
  }

  /** Whether this phone has a right, as the child said last; before it ever did, perhaps. */
  can = (permission) => {
    const known = this.control.hello ? this.permissions : this.child.permissions?.length ? new Set(this.child.permissions) : null;
    return known === null || known.has(permission);
  };

  /** Whether the child knows a command; before it has greeted, perhaps not. */
  knows = (command) => this.control.capabilities.has(command);

  /**
   * Seconds left of a timer: the child's number, counted down since it was said.
   * @param {object|undefined} part a light or the lullaby of `state`
   * @returns {number|null}
   */
  remaining(part) {
    if (part?.remainingSeconds === undefined || part.remainingSeconds === null) return null;
    const known = this.#stamps.get(part.id ?? "");
    if (known?.part !== part) this.#stamps.set(part.id ?? "", { part, at: Date.now() });
    return Math.max(0, part.remainingSeconds - (Date.now() - this.#stamps.get(part.id ?? "").at) / 1000);
  }

  /**
   * Why a command cannot be given now, as a sentence; null if it can.
   * @param {{permissions?: string[], command?: string}} order
   */
  obstacle = ({ permissions = [], command }) => {
    if (this.watcher.phase !== "live" || !this.control.hello) return t("why.offline");
    const missing = permissions.find((name) => !this.permissions.has(name));
    if (missing) return t(`why.${missing}`);
    if (command && !this.control.capabilities.has(command)) return t(`why.no.${lacking[command.split(".")[0]] ?? "lullaby"}`);
    return null;
  };

  /**
   * Gives a command; the button shows that it is under way. What is wrong becomes a notice.
   * @param {HTMLElement|null} button
   * @param {Record<string, string>} own keys of texts for codes that mean something of their own here
   * @returns {Promise<object|null>} the reply's parameters, null if it failed
   */
  async order(button, text, parameters = {}, own = {}) {
    if (button?.getAttribute("aria-disabled") === "true" || button?.getAttribute("aria-busy") === "true") return null;
    button?.setAttribute("aria-busy", "true");
    try {
      return await this.control.request(text, parameters) ?? {};
    } catch (error) {
      notice(...problemText(error, own));
      return null;
    } finally {
      button?.removeAttribute("aria-busy");
      this.update();
    }
  }

  /** Keeps a small picture for the list of children, and for the moment before the first picture. */
  keepStill() {
    const { videoWidth, videoHeight } = this.video;
    if (!videoWidth || !this.pictureAt || this.app.isForgotten(this.child)) return;
    this.#stillAt = Date.now();
    const canvas = h("canvas", { width: stillWidth, height: Math.round(stillWidth * videoHeight / videoWidth) });
    canvas.getContext("2d").drawImage(this.video, 0, 0, canvas.width, canvas.height);
    const lastSeenAt = this.pictureAt;
    canvas.toBlob(async (still) => {
      // Another tab may have forgotten it.
      if (!still || this.app.isForgotten(this.child) || !await this.app.store.child(this.child.id)) return;
      Object.assign(this.child, { still, lastSeenAt, name: this.name });
      await this.app.store.saveChild(this.child).catch(() => {});
    }, "image/jpeg", 0.7);
  }
}
