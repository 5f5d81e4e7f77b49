/** Below this a room is quiet, dB. */
const quiet = -50;
/** By this much another room has to be louder to take the place of the loudest, dB; a level that is over falls by `fall` a second. */
const [lead, fall] = [6, 10];
/** What is left of the others' volume beside the loudest: -14 dB. */
const ducked = 0.2;
/** A volume falls by no more at a time. */
const step = 0.2;

/** How loud each room is played while only the loudest is heard in full. Pure; times in ms. */
export class Mix {
  /** By room {level, at}. */
  #levels = new Map();
  #shares = new Map();
  #loudest = null;

  /** The level of a room, now. */
  note(id, levelDb, now) {
    this.#levels.set(id, { level: Math.max(levelDb, this.#level(id, now)), at: now });
  }

  remove(id) {
    this.#levels.delete(id);
    this.#shares.delete(id);
  }

  #level(id, now) {
    const { level, at } = this.#levels.get(id) ?? { level: -100, at: now };
    return level - fall * (now - at) / 1000;
  }

  /** Of their volume, by room: all of it while every room is quiet. @returns {Map<string, number>} */
  shares(now) {
    const levels = [...this.#levels.keys()].map((id) => [id, this.#level(id, now)]).filter(([, level]) => level > quiet);
    const [first, most] = levels.reduce((best, one) => (one[1] > best[1] ? one : best), [null, -Infinity]);
    const own = levels.find(([id]) => id === this.#loudest)?.[1] ?? -Infinity;
    if (most > own + lead || own === -Infinity) this.#loudest = first;
    for (const id of this.#levels.keys()) {
      const wanted = this.#loudest === null || id === this.#loudest ? 1 : ducked;
      this.#shares.set(id, Math.max(wanted, (this.#shares.get(id) ?? 1) - step));
    }
    return this.#shares;
  }
}
