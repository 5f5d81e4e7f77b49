const sampleRate = 16_000;
const patternSeconds = 1.6;
/** Three rising notes: Hz, and when each begins, s. They are heard by old ears and through small speakers. */
const notes = [[880, 0], [1109, 0.24], [1319, 0.48]];
const noteSeconds = 0.2;
const vibration = [400, 150, 400, 150, 400];

/** One round of the ringing, -1 to 1. */
function pattern() {
  const samples = new Float32Array(sampleRate * patternSeconds);
  for (const [frequency, begin] of notes) {
    for (let i = 0; i < sampleRate * noteSeconds; i += 1) {
      const time = i / sampleRate;
      // 10 ms in and out, so that it does not click.
      const envelope = Math.min(1, time / 0.01, (noteSeconds - time) / 0.01);
      const wave = Math.sin(2 * Math.PI * frequency * time) + 0.3 * Math.sin(6 * Math.PI * frequency * time);
      samples[Math.round(begin * sampleRate) + i] = 0.75 * envelope * wave;
    }
  }
  return samples;
}

/** RIFF WAVE, 16 bits, mono. */
function wave(samples) {
  const view = new DataView(new ArrayBuffer(44 + samples.length * 2));
  const words = (at, text) => [...text].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  words(0, "RIFF");
  view.setUint32(4, 36 + samples.length * 2, true);
  words(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  words(36, "data");
  view.setUint32(40, samples.length * 2, true);
  samples.forEach((value, i) => view.setInt16(44 + i * 2, Math.max(-1, Math.min(1, value)) * 32767, true));
  return new Blob([view.buffer], { type: "audio/wav" });
}

/**
 * The ringing itself, in two ways at once, because browsers silence one or the other: Web Audio, and a looped media
 * element; and by vibration. One for all monitors of the page: the loudest counts.
 */
class Ring {
  #element = document.createElement("audio");
  #context = null;
  #gain = null;
  #source = null;
  #vibrating = null;
  /** By who wants it to ring, 0 to 1. */
  #wanted = new Map();

  constructor() {
    this.#element.src = URL.createObjectURL(wave(pattern()));
    this.#element.loop = true;
    this.#element.preload = "auto";
  }

  /** Unlocked by a tap; null without an output device. */
  get context() {
    this.#prepare();
    return this.#context;
  }

  get isRinging() {
    return this.#source !== null;
  }

  /** To be called inside a tap: browsers let a page sound later only if it did so in one. */
  unlock() {
    this.#prepare();
    this.#context?.resume().catch(() => {});
    if (this.isRinging || !this.#element.paused) return;
    const element = this.#element;
    element.muted = true;
    element.play().then(() => this.isRinging || element.pause()).catch(() => {}).finally(() => (element.muted = false));
  }

  /** @param {object} owner @param {number} loudness 0 to 1 */
  start(owner, loudness) {
    this.#wanted.set(owner, loudness);
    this.#follow();
    if (this.isRinging) return;
    this.#prepare();
    this.#source = true;
    if (this.#context) {
      this.#context.resume().catch(() => {});
      const samples = pattern();
      const buffer = this.#context.createBuffer(1, samples.length, sampleRate);
      buffer.copyToChannel(samples, 0);
      this.#source = this.#context.createBufferSource();
      this.#source.buffer = buffer;
      this.#source.loop = true;
      this.#source.connect(this.#gain);
      this.#source.start();
    }
    this.#element.muted = false;
    this.#element.currentTime = 0;
    this.#element.play().catch(() => {});
    const vibrate = () => navigator.vibrate?.(vibration);
    vibrate();
    this.#vibrating = setInterval(vibrate, 2000);
  }

  get #loudness() {
    return Math.max(0, ...this.#wanted.values());
  }

  #follow() {
    this.#element.volume = this.#loudness;
    if (this.#gain) this.#gain.gain.value = this.#loudness;
  }

  stop(owner) {
    if (!this.#wanted.delete(owner)) return;
    if (this.#wanted.size) return this.#follow();
    this.#source.stop?.();
    this.#source.disconnect?.();
    this.#source = null;
    this.#element.pause();
    clearInterval(this.#vibrating);
    navigator.vibrate?.(0);
  }

  #prepare() {
    if (this.#context || typeof AudioContext !== "function") return;
    try {
      this.#context = new AudioContext();
      this.#gain = this.#context.createGain();
      this.#gain.gain.value = this.#loudness;
      this.#gain.connect(this.#context.destination);
    } catch {
      // No output device: the element may have one later.
      this.#context = null;
    }
  }
}

export const ring = new Ring();
