/** How far back the last hours go, minutes. */
export const span = 360;
/** Loud is what is louder, dB below full scale: `noiseDb` of the child's reports. */
export const loudDb = -45;
/** It is loud "now" for as long after a loud sound, s. */
const echo = 5;

const minuteOf = (seconds) => Math.floor(seconds / 60);
const isOn = (state) => state === "on" || state === "flashing" || state === "playing" || state === "waiting";

/** For each minute of a report's time line, whether anybody heard it. */
export function heardMinutes({ levels, listeners }) {
  const heard = levels.map(() => false);
  for (const { runs } of listeners) {
    let start = 0;
    runs.forEach((length, index) => {
      const end = Math.min(heard.length, start + Math.max(0, length));
      if (index % 2) for (let minute = start; minute < end; minute += 1) heard[minute] ||= levels[minute] >= 0;
      start = end;
    });
  }
  return heard;
}

/**
 * What the last hours were like, minute by minute, from the child's report and events and from what this page hears itself. Pure;
 * all times are seconds since 1970.
 */
export class Recent {
  /** By minute since 1970: {level (dB; "off", "silent": the child did not run, the microphone gave nothing), heard, light, lullaby}. */
  #minutes = new Map();
  #loudAt = null;

  /** @param {number} now @param {{levelDb?: number, isHearing: boolean, state: object}} heard by this page */
  note(now, { levelDb, isHearing, state }) {
    const minute = this.#minute(minuteOf(now));
    if (levelDb !== undefined) {
      minute.level = typeof minute.level === "number" ? Math.max(minute.level, levelDb) : levelDb;
      if (levelDb > loudDb) this.#loudAt = now;
    }
    minute.heard ||= isHearing;
    minute.light ||= (state.lights ?? []).some((light) => isOn(light.state));
    minute.lullaby ||= isOn(state.lullaby?.state);
  }

  /** @param {object} report a reply to `report.get` @param {object[]} events a reply to `events.get` */
  merge(report, events, now) {
    const { levels = [], listeners = [] } = report?.timeline ?? {};
    const heard = heardMinutes({ levels, listeners });
    levels.forEach((level, index) => {
      const at = minuteOf(report.from) + index;
      if (at > minuteOf(now)) return;
      const minute = this.#minute(at);
      if (level >= 0) minute.level = Math.max(-level, typeof minute.level === "number" ? minute.level : -Infinity);
      else minute.level ??= level < -1 ? "off" : "silent";
      minute.heard ||= heard[index];
    });
    for (const { kind, from, to } of intervals(events, now)) {
      for (let at = Math.max(minuteOf(from), minuteOf(now) - span + 1); at <= minuteOf(to); at += 1) this.#minute(at)[kind] = true;
    }
  }

  /** The minutes up to now, the oldest first; null where nothing is known. */
  minutes(now) {
    return Array.from({ length: span }, (_, index) => this.#minutes.get(minuteOf(now) - span + 1 + index) ?? null);
  }

  /**
   * The answer to "how is it?".
   * @returns {null|{isLoud: boolean, quietFor: number, loudAt: number|null, isWhole: boolean}} null: nothing is known of this minute. `quietFor` in
   * seconds, since the last loud minute, or the last one that is not known: `isWhole` where that is farther back than these hours
   */
  answer(now) {
    const known = this.minutes(now);
    if (typeof known.at(-1)?.level !== "number" && typeof known.at(-2)?.level !== "number") return null;
    if (this.#loudAt !== null && now - this.#loudAt < echo) return { isLoud: true, quietFor: 0, loudAt: this.#loudAt, isWhole: false };
    const levels = known.map((minute) => minute?.level);
    // The minute that has just begun may have no level yet.
    if (typeof levels.at(-1) !== "number") levels[span - 1] = levels[span - 2];
    const last = levels.findLastIndex((level) => level > loudDb);
    const gap = levels.findLastIndex((level) => typeof level !== "number");
    const begin = (index) => (minuteOf(now) - span + 1 + index) * 60;
    const loudAt = last < 0 ? null : minuteOf(this.#loudAt ?? 0) === begin(last) / 60 ? this.#loudAt : begin(last);
    const since = Math.max(last < 0 ? 0 : loudAt === this.#loudAt ? loudAt : loudAt + 60, gap < 0 ? 0 : begin(gap + 1), begin(0));
    return { isLoud: false, quietFor: Math.max(0, now - since), loudAt, isWhole: last < 0 && gap < 0 };
  }

  #minute(at) {
    if (!this.#minutes.has(at)) {
      this.#minutes.set(at, { heard: false, light: false, lullaby: false });
      for (const key of this.#minutes.keys()) if (key <= at - 2 * span) this.#minutes.delete(key);
    }
    return this.#minutes.get(at);
  }
}

/** When lights were on and lullabies played, by the events; a restart ends all. */
function intervals(events, now) {
  const found = [];
  const begun = new Map();
  const end = (key, to) => {
    const one = begun.get(key);
    if (one) found.push({ ...one, to });
    begun.delete(key);
  };
  for (const { kind, id, detail, time } of events) {
    if (kind === "restart") [...begun.keys()].forEach((key) => end(key, time));
    if (kind !== "light" && kind !== "lullaby") continue;
    const key = kind === "light" ? `light ${id}` : kind;
    if (!isOn(detail)) end(key, time);
    else if (!begun.has(key)) begun.set(key, { kind, from: time });
  }
  [...begun.keys()].forEach((key) => end(key, now));
  return found;
}
