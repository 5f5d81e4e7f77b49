// The chirp of a proof of hearing, and how it is found: the same as Sources/Protocols/HearingProof, where the reasons are.
// interfaces/wire.md, "Proof of hearing".

const chipRate = 2400;
const chipCount = 1023;
const carrier = 3000;
/** Two points a chip. */
const pointRate = 4800;
const length = 2 * chipCount;
const blockCount = 4096;
export const threshold = 0.04;

/** x^10 + x^7 + 1. */
function chips() {
  let register = 1;
  return Array.from({ length: chipCount }, () => {
    const chip = register & 1 ? 1 : -1;
    register = (register >> 1) | (((register ^ (register >> 3)) & 1) << 9);
    return chip;
  });
}

/** @param {number} rate samples a second @returns {Float32Array} between -1 and 1 */
export function chirp(rate) {
  const joints = [0, ...chips(), 0];
  const samples = new Float32Array(Math.floor((rate * (chipCount + 1)) / chipRate));
  return samples.map((_, i) => {
    const place = (i * chipRate) / rate;
    const chip = Math.floor(place);
    const base = joints[chip] + (joints[chip + 1] - joints[chip]) * (place - chip);
    return base * Math.cos((2 * Math.PI * carrier * i) / rate);
  });
}

/** In place; the inverse is not divided by the count. */
function transform(real, imaginary, isInverse = false) {
  const count = real.length;
  for (let i = 0, mirrored = 0; i < count; i += 1) {
    if (i < mirrored) {
      [real[i], real[mirrored]] = [real[mirrored], real[i]];
      [imaginary[i], imaginary[mirrored]] = [imaginary[mirrored], imaginary[i]];
    }
    let bit = count >> 1;
    for (; bit && mirrored & bit; bit >>= 1) mirrored ^= bit;
    mirrored |= bit;
  }
  for (let half = 1; half < count; half *= 2) {
    for (let offset = 0; offset < half; offset += 1) {
      const angle = ((isInverse ? 1 : -1) * Math.PI * offset) / half;
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      for (let low = offset; low < count; low += 2 * half) {
        const high = low + half;
        const x = real[high] * cosine - imaginary[high] * sine;
        const y = real[high] * sine + imaginary[high] * cosine;
        real[high] = real[low] - x;
        imaginary[high] = imaginary[low] - y;
        real[low] += x;
        imaginary[low] += y;
      }
    }
  }
}

/** Finds the chirp in stretches of sound, each searched by itself. */
export class ChirpDetector {
  #rate;
  #cosines;
  #sines;
  #template;

  /** @param {number} rate samples a second @param {number} count samples of a stretch, at most 0.85 s */
  constructor(rate, count) {
    this.#rate = rate;
    const angle = (i) => (2 * Math.PI * carrier * i) / rate;
    this.#cosines = Float32Array.from({ length: count }, (_, i) => Math.cos(angle(i)));
    this.#sines = Float32Array.from({ length: count }, (_, i) => Math.sin(angle(i)));
    const [real, imaginary] = this.#points(chirp(rate), length);
    const energy = real.reduce((sum, x, i) => sum + x * x + imaginary[i] * imaginary[i], 0);
    const scale = 1 / Math.sqrt(energy);
    real.forEach((_, i) => ((real[i] *= scale), (imaginary[i] *= scale)));
    transform(real, imaginary);
    this.#template = [real, imaginary];
  }

  /** The largest share of the energy in its band that is a whole chirp's, 0 to 1. */
  share(samples) {
    const count = Math.min(blockCount, Math.floor((samples.length * pointRate) / this.#rate) - 1);
    const [real, imaginary] = this.#points(samples, count);
    const energies = new Float64Array(blockCount + 1);
    for (let i = 0; i < blockCount; i += 1) energies[i + 1] = energies[i] + real[i] * real[i] + imaginary[i] * imaginary[i];
    transform(real, imaginary);
    const [a, b] = this.#template;
    for (let i = 0; i < blockCount; i += 1) {
      const [x, y] = [real[i], imaginary[i]];
      real[i] = x * a[i] + y * b[i];
      imaginary[i] = y * a[i] - x * b[i];
    }
    transform(real, imaginary, true);
    let best = 0;
    for (let place = 0; place + length <= count; place += 1) {
      const energy = energies[place + length] - energies[place];
      // Digital silence.
      if (energy < 1e-12 * length) continue;
      best = Math.max(best, (real[place] ** 2 + imaginary[place] ** 2) / (blockCount * blockCount * energy));
    }
    return Math.min(1, best);
  }

  /** The carrier moved to 0 Hz and weighed with a triangle two chips long; `count` points, zeros up to a block. */
  #points(samples, count) {
    const half = this.#rate / chipRate;
    const [real, imaginary] = [new Float64Array(blockCount), new Float64Array(blockCount)];
    for (let k = 0; k < count; k += 1) {
      const middle = ((k + 1) * this.#rate) / pointRate;
      const end = Math.min(samples.length - 1, Math.floor(middle + half));
      for (let i = Math.max(0, Math.ceil(middle - half)); i <= end; i += 1) {
        const weighed = samples[i] * (1 - Math.abs(i - middle) / half);
        real[k] += weighed * this.#cosines[i];
        imaginary[k] -= weighed * this.#sines[i];
      }
    }
    return [real, imaginary];
  }
}
