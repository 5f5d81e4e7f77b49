import { Boost } from "./boost.js";

/** Sound that has not come for this long is missed, ms. */
const missing = 3000;
/** Of the last three seconds, the share that the browser may fill in where packets were lost. */
const mostMadeUp = 0.3;
const madeUpWindow = 3000;
/** Muted without a time, ms: nobody who falls asleep meanwhile stays deaf. */
const usualMute = 20 * 60_000;

/** Whether the browser filled in too much of the sound lately. Until some arrives that is another fault, and does not count. */
export class FilledIn {
  /** [{time (ms), received, madeUp (samples, both since the beginning)}] of the last seconds. */
  #samples = [];
  #wasArriving = false;

  note(sample, isArriving) {
    const samples = this.#samples;
    // A new connection counts from zero.
    if (!isArriving || !this.#wasArriving || samples.at(-1)?.received > sample.received) samples.length = 0;
    this.#wasArriving = isArriving;
    samples.push(sample);
    while (samples.length > 2 && sample.time - samples[0].time > madeUpWindow) samples.shift();
  }

  get isTooMuch() {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const madeUp = last?.madeUp - first?.madeUp;
    return madeUp / (last?.received - first?.received + madeUp) > mostMadeUp;
  }
}

/**
 * What iPhones learn of this page's sound (W3C Audio Session): "playback" sounds through the mute switch, from the loudspeaker,
 * in full; "play-and-record" while the microphone is open. Left to itself, iOS stays quiet or at the ear piece after the microphone was.
 */
export function useAudioSession(type) {
  if (navigator.audioSession) navigator.audioSession.type = type;
}

/**
 * The child's sound in this page, and whether somebody beside this device can hear it.
 *
 * `verdict`: {hearing, reason}. Reasons why not, the first that holds: "reconnecting", "tap" (nothing has played in this visit: the
 * browser wants a tap first), "stopped" (the browser stopped what had played), "muted", "silent" (volume 0), "microphone" (the child
 * has none), "no-sound-arrives", "made-up".
 * Event "change": the verdict, `muted` or `volume`.
 */
export class Sound extends EventTarget {
  #watcher;
  #element = document.createElement("audio");
  #listening = new AbortController();
  #last = { hearing: false, reason: "reconnecting" };
  #filledIn = new FilledIn();
  #track = null;
  #hasPlayed = false;
  #mutedUntil = null;
  #boost = new Boost(() => this.#attach());
  #volume = 1;
  #share = 1;

  /** @param {Watcher} watcher */
  constructor(watcher) {
    super();
    this.#watcher = watcher;
    useAudioSession("playback");
    const element = this.#element;
    element.autoplay = true;
    const { signal } = this.#listening;
    const update = () => this.#update();
    element.addEventListener("playing", () => (this.#hasPlayed ||= !element.muted), { signal });
    for (const name of ["play", "playing", "pause", "volumechange"]) element.addEventListener(name, update, { signal });
    watcher.addEventListener("change", () => this.#resume(), { signal });
    watcher.addEventListener("arrival", update, { signal });
    watcher.addEventListener("state", update, { signal });
    watcher.addEventListener("statistics", ({ detail }) => this.#count(detail), { signal });
    // Headphones that were pulled out stop some browsers.
    navigator.mediaDevices?.addEventListener?.("devicechange", () => this.#resume(), { signal });
    document.addEventListener("visibilitychange", () => this.#resume(), { signal });
    this.#announce();
    this.#resume();
  }

  /**
   * Plays. The first time inside a tap: browsers allow no sound before.
   * @returns {Promise<boolean>} whether it plays now
   */
  async play() {
    this.#boost.unlock();
    try {
      await this.#element.play();
    } catch {
      // NotAllowedError: the verdict says that a tap is needed.
    }
    this.#update();
    return !this.#element.paused;
  }

  get muted() {
    return this.#element.muted;
  }

  set muted(value) {
    this.muteUntil(value ? Date.now() + usualMute : null);
  }

  /** When the sound comes back by itself, ms since 1970; null: it is not muted. */
  get mutedUntil() {
    return this.#mutedUntil;
  }

  muteUntil(time) {
    this.#mutedUntil = time;
    this.#element.muted = time !== null;
    this.#update();
  }

  /** How many times louder than it came. */
  set boost(factor) {
    this.#boost.factor = factor;
  }

  get boost() {
    return this.#boost.factor;
  }

  /** 0 to 1. iPhones leave it to their buttons. */
  get volume() {
    return this.#volume;
  }

  set volume(value) {
    this.#volume = Math.min(1, Math.max(0, Number(value) || 0));
    this.#element.volume = this.#volume * this.#share;
    this.#update();
  }

  /** Of the volume, while another room is louder: above 0. */
  set share(value) {
    this.#share = value;
    this.volume = this.#volume;
  }

  get verdict() {
    const reason = this.#reason();
    return { hearing: reason === null, reason };
  }

  /** Ends; nothing plays any more. */
  close() {
    this.#listening.abort();
    this.#element.pause();
    this.#element.srcObject = null;
    this.#boost.close();
    const session = navigator.mediaSession;
    for (const action of session ? ["play", "pause"] : []) session.setActionHandler(action, null);
  }

  #reason() {
    const { phase, control } = this.#watcher;
    if (phase !== "live") return "reconnecting";
    if (this.isBlocked) return this.#hasPlayed ? "stopped" : "tap";
    if (this.#element.muted) return "muted";
    if (this.#volume === 0) return "silent";
    if (["missing", "off"].includes(control.state?.microphone?.state)) return "microphone";
    // Right after the begin it has not had its time yet, and is not called heard either.
    if (this.#element.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return "no-sound-arrives";
    if (!this.#isArriving) return "no-sound-arrives";
    return this.#filledIn.isTooMuch ? "made-up" : null;
  }

  /** The browser does not play the sound that there is. */
  get isBlocked() {
    return this.#element.paused && this.#track !== null;
  }

  get #isArriving() {
    return Date.now() - this.#watcher.soundAt <= missing;
  }

  #count({ time, audioSamplesReceived, audioSamplesConcealed }) {
    this.#filledIn.note({ time, received: audioSamplesReceived, madeUp: audioSamplesConcealed }, this.#isArriving);
    this.#resume();
  }

  // What the browser stopped by itself goes on; without a tap it may refuse, once a second. Chromium does not play a track
  // that came into a stream without one, so the element is given the stream again.
  #resume() {
    const [track] = this.#watcher.sound.getAudioTracks();
    if (track && track !== this.#track) {
      this.#track = track;
      this.#element.srcObject = this.#boost.stream(track) ?? new MediaStream([track]);
    }
    if (this.#element.paused && track) this.play();
    else this.#update();
  }

  #attach() {
    if (!this.#track) return;
    const boosted = this.#boost.stream(this.#track);
    const isBoosted = this.#element.srcObject?.getAudioTracks()[0] !== this.#track;
    if (boosted ? this.#element.srcObject === boosted : !isBoosted) return;
    this.#element.srcObject = boosted ?? new MediaStream([this.#track]);
    this.play();
  }

  #announce() {
    const session = navigator.mediaSession;
    if (!session || typeof MediaMetadata !== "function") return;
    const name = this.#watcher.control.hello?.name || this.#watcher.child.name || "Cradle";
    session.metadata = new MediaMetadata({ title: name, artist: "Cradle" });
    // Buttons of headsets and lock screens: a paused stream would fall behind, so it is muted.
    session.setActionHandler("pause", () => (this.muted = true));
    session.setActionHandler("play", () => {
      this.muted = false;
      this.play();
    });
    this.#watcher.addEventListener("hello", ({ detail }) => {
      if (session.metadata && typeof detail?.name === "string") session.metadata.title = detail.name;
    }, { signal: this.#listening.signal });
  }

  #update() {
    if (this.#mutedUntil !== null && Date.now() >= this.#mutedUntil) return this.muteUntil(null);
    const { verdict } = this;
    const now = { ...verdict, muted: this.muted, volume: this.volume };
    const before = this.#last;
    if (Object.keys(now).every((name) => now[name] === before[name])) return;
    this.#last = now;
    if (navigator.mediaSession) navigator.mediaSession.playbackState = this.muted ? "paused" : "playing";
    this.dispatchEvent(new Event("change"));
  }
}
