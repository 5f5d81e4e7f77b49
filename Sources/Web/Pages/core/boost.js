/**
 * Makes a weak microphone louder than the browser's volume goes: gain, and behind it a limiter, so that a cry does not distort. What comes
 * out is a stream for the same element, so that mute, volume and the verdict stay what they are. It needs an audio context that runs, which
 * takes a tap; as long as none does, there is no such stream, and the sound plays as it came.
 */
export class Boost {
  #factor = 1;
  #onchange;
  #context = null;
  #track = null;
  #nodes = [];
  #gain = null;
  #out = null;
  /** Chromium gives Web Audio nothing of a track that no element plays. */
  #sink = document.createElement("audio");

  /** @param {() => void} onchange `stream` may give another one now */
  constructor(onchange) {
    this.#onchange = onchange;
    this.#sink.muted = true;
  }

  /** 1: as it came. */
  set factor(value) {
    this.#factor = Math.min(8, Math.max(1, Number(value) || 1));
    if (this.#gain) this.#gain.gain.value = this.#factor;
    if (this.#factor > 1) this.unlock();
    this.#onchange();
  }

  get factor() {
    return this.#factor;
  }

  /** To be called inside a tap. */
  unlock() {
    if (this.#factor === 1) return;
    try {
      this.#context ??= new AudioContext();
    } catch {
      return; // No output device.
    }
    this.#context.onstatechange = this.#onchange;
    this.#context.resume().catch(() => {});
  }

  /** @param {MediaStreamTrack} track @returns {MediaStream|null} null: play the track itself */
  stream(track) {
    if (this.#factor === 1 || this.#context?.state !== "running") {
      this.#drop();
      return null;
    }
    if (track !== this.#track) this.#connect(track);
    return this.#out.stream;
  }

  close() {
    this.#drop();
    if (this.#context) this.#context.onstatechange = null;
    this.#context?.close().catch(() => {});
  }

  #connect(track) {
    this.#drop();
    this.#track = track;
    const context = this.#context;
    const stream = new MediaStream([track]);
    this.#sink.srcObject = stream;
    this.#sink.play().catch(() => {});
    this.#gain = new GainNode(context, { gain: this.#factor });
    const limiter = new DynamicsCompressorNode(context, { threshold: -6, knee: 0, ratio: 20, attack: 0.003, release: 0.25 });
    this.#out = context.createMediaStreamDestination();
    this.#nodes = [context.createMediaStreamSource(stream), this.#gain, limiter];
    [...this.#nodes, this.#out].reduce((one, next) => one.connect(next));
  }

  #drop() {
    for (const node of this.#nodes) node.disconnect();
    this.#nodes = [];
    this.#sink.srcObject = this.#track = this.#gain = this.#out = null;
  }
}
