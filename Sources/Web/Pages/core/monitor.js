import { Alarm } from "./alarm.js";
import { Diary } from "./diary.js";
import { ring } from "./ring.js";

const tickInterval = 500;
/** A tick that comes this late means that the page did not run, ms. */
const slept = 3000;

const seconds = () => performance.now() / 1000;

/**
 * Feeds the alarm from what arrives, and rings. `alarm`: what `Alarm.evaluate` said last, `since` in ms since 1970; null if
 * all is well. Event "change".
 */
export class Monitor extends EventTarget {
  #alarm;
  #diary = new Diary();
  #isTelling = false;
  #watcher;
  #video;
  #sound;
  #listening = new AbortController();
  #tick;
  #tickedAt = performance.now();
  #told = { picture: 0, sound: 0, phase: "" };
  alarm = null;

  /** @param {Watcher} watcher @param {{video: HTMLVideoElement, sound: Sound, limits: object}} parts */
  constructor(watcher, { video, sound, limits }) {
    super();
    this.#alarm = new Alarm(limits);
    this.#watcher = watcher;
    this.#video = video;
    this.#sound = sound;
    const { signal } = this.#listening;
    const hear = (name) => watcher.addEventListener(name, ({ detail }) => this.#note(name, detail ?? undefined), { signal });
    ["heartbeat", "hello", "goodbye"].forEach(hear);
    watcher.addEventListener("hello", () => this.#tellAlarms(), { signal });
    watcher.addEventListener("arrival", () => this.#arrived(), { signal });
    watcher.addEventListener("change", () => this.#phase(), { signal });
    sound?.addEventListener("change", () => this.#note("own-sound", sound.verdict), { signal });
    this.#phase();
    this.#tick = setInterval(() => this.#ticked(), tickInterval);
  }

  /** See `defaultLimits` of alarm.js. */
  set limits(limits) {
    this.#alarm.limits = limits;
    this.#evaluate();
  }

  /** For listening, too; see Ring. */
  get context() {
    return ring.context;
  }

  /** To be called inside a tap, so that an alarm may sound later. */
  unlock() {
    ring.unlock();
  }

  acknowledge() {
    this.#alarm.acknowledge(seconds());
    this.#evaluate();
  }

  test() {
    this.unlock();
    this.#alarm.test(seconds());
    this.#evaluate();
  }

  close() {
    this.#listening.abort();
    clearInterval(this.#tick);
    ring.stop(this);
    this.alarm = null;
  }

  #note(kind, data) {
    this.#alarm.note(kind, seconds(), data);
    this.#evaluate();
  }

  #phase() {
    const { phase, refusal, audioOnly } = this.#watcher;
    const told = `${phase} ${refusal?.reason} ${audioOnly}`;
    if (told === this.#told.phase) return;
    this.#told.phase = told;
    const { expiresAt, token } = this.#watcher.child;
    this.#note("phase", { phase, refusal, audioOnly, isLent: Boolean(expiresAt || token) });
  }

  #arrived() {
    const { pictureAt, soundAt } = this.#watcher;
    if (pictureAt !== this.#told.picture) this.#alarm.note("picture", seconds());
    if (soundAt !== this.#told.sound) this.#alarm.note("sound", seconds());
    Object.assign(this.#told, { picture: pictureAt, sound: soundAt });
  }

  #ticked() {
    const now = performance.now();
    const late = now - this.#tickedAt - tickInterval;
    this.#tickedAt = now;
    if (late > slept) this.#alarm.note("woke", now / 1000, { seconds: late / 1000 });
    // iPhones pause even silent video in the background.
    if (this.#video?.paused && this.#video.srcObject && document.visibilityState === "visible") {
      this.#video.play().catch(() => {});
    }
    this.#evaluate();
  }

  #evaluate() {
    const alarm = this.#alarm.evaluate(seconds());
    const before = this.alarm;
    if (alarm?.loudness > 0) ring.start(this, alarm.loudness);
    else ring.stop(this);
    if (alarm) alarm.since = Math.round(performance.timeOrigin + alarm.since * 1000);
    const isSame = (alarm === null) === (before === null)
      && Object.keys(alarm ?? {}).every((name) => name === "since" || alarm[name] === before[name]);
    this.alarm = alarm;
    this.#diary.note(alarm);
    this.#tellAlarms();
    if (!isSame) this.dispatchEvent(new Event("change"));
  }

  /** Tells the child, one after the other, the alarms that it does not know. */
  async #tellAlarms() {
    const { control } = this.#watcher;
    if (this.#isTelling || !this.#diary.waiting.length || !control.isOpen || !control.capabilities.has("alarm.note")) return;
    this.#isTelling = true;
    try {
      while (this.#diary.waiting.length) {
        const [note] = this.#diary.waiting;
        await control.request("alarm.note", note).catch((error) => {
          // Later: with the next look or the next connection. Any other refusal would come again.
          if (["busy", "closed", "timeout"].includes(error.code)) throw error;
        });
        this.#diary.remove(note);
      }
    } catch {
      await new Promise((done) => setTimeout(done, 5000));
    } finally {
      this.#isTelling = false;
    }
  }
}
