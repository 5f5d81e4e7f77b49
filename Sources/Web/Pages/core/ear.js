import { ChirpDetector, threshold } from "./chirp.js";

const interval = 100;
/** The largest stretch that a browser keeps: 0.68 s at 48 kHz, of which the chirp takes 0.43 s. */
const stretch = 32768;
/** Noise of a room is reported each second, once it was measured for a while, ms. */
const floorAfter = 3000;
const floorInterval = 1000;

/** Listens for a proof of hearing in the sound that this page receives, and tells the child what it hears. */
export class Ear {
  #watcher;
  #context;
  #source = null;
  #analyser = null;
  #timer;
  #detector = null;
  /** Of the test that runs. */
  #number = null;
  #listening = new AbortController();

  /** @param {Watcher} watcher @param {() => AudioContext|null} context one that a tap has unlocked */
  constructor(watcher, context) {
    this.#watcher = watcher;
    this.#context = context;
    const { signal } = this.#listening;
    for (const name of ["hello", "state"]) watcher.control.addEventListener(name, () => this.#follow(), { signal });
  }

  close() {
    this.#listening.abort();
    this.#end();
  }

  #follow() {
    const { hearing } = this.#watcher.control.state ?? {};
    if (hearing?.state !== "running") return this.#end();
    if (hearing.number === this.#number) return;
    this.#end();
    const context = this.#context();
    const [track] = this.#watcher.sound.getAudioTracks();
    if (!context || !track) return;
    context.resume().catch(() => {});
    this.#number = hearing.number;
    this.#analyser = context.createAnalyser();
    this.#analyser.fftSize = stretch;
    this.#source = context.createMediaStreamSource(new MediaStream([track]));
    this.#source.connect(this.#analyser);
    const listen = hearing.way === "chirp" ? this.#seek(context.sampleRate) : this.#measure(context.sampleRate);
    const samples = new Float32Array(stretch);
    this.#timer = setInterval(() => {
      this.#analyser.getFloatTimeDomainData(samples);
      listen(samples);
    }, interval);
  }

  #seek(rate) {
    this.#detector = new ChirpDetector(rate, stretch);
    let best = threshold;
    return (samples) => {
      const share = this.#detector.share(samples);
      if (share <= best) return;
      best = share;
      this.#tell({ share });
    };
  }

  /** What arrives is the noise of a room: it is there, and no stretch of 100 ms is like the one before. */
  #measure(rate) {
    const count = Math.floor((rate * interval) / 1000);
    const began = performance.now();
    const energies = [];
    let told = 0;
    return (samples) => {
      energies.push(samples.slice(-count).reduce((sum, x) => sum + x * x, 0) / count);
      const now = performance.now();
      if (now - began < floorAfter || now - told < floorInterval) return;
      told = now;
      const isAlive = energies.every((energy, i) => energy > 0 && energy !== energies[i - 1]);
      const mean = energies.reduce((sum, energy) => sum + energy, 0) / energies.length;
      if (isAlive) this.#tell({ levelDb: Math.max(-100, Math.min(0, 10 * Math.log10(mean))) });
    };
  }

  #tell(heard) {
    this.#watcher.control.request("hearing.heard", { number: this.#number, ...heard }).catch(() => {});
  }

  #end() {
    clearInterval(this.#timer);
    this.#source?.disconnect();
    this.#source = this.#analyser = this.#detector = this.#number = null;
  }
}
