const capacity = 32;

/**
 * The alarms that rang here, to be reported to the child (`alarm.note`): each once, when somebody has acknowledged it or when
 * it is over. While there is no connection they wait. As Sources/Parent/Watching/AlarmDiary.swift.
 */
export class Diary {
  #ringing = null;
  #told = [];
  /** Parameters of `alarm.note`, oldest first. */
  waiting = [];

  /** @param {{kind: string, level: string, since: number, loudness: number, acknowledged: boolean}|null} alarm `since` in ms since 1970 */
  note(alarm, now = Date.now()) {
    const key = alarm && `${alarm.kind} ${alarm.since}`;
    if (this.#ringing && this.#ringing.key !== key) this.#finish(this.#ringing);
    if (!alarm || alarm.kind === "test" || this.#told.includes(key)) return;
    if (alarm.acknowledged) {
      // What was acknowledged before it was shown here rang behind a graver one.
      if (this.#ringing) this.#finish({ key, note: { ...this.#ringing.note, acknowledgedAt: now / 1000 } });
    } else if (alarm.loudness > 0 && !this.#ringing) {
      this.#ringing = { key, note: { kind: alarm.kind, level: alarm.level, began: alarm.since / 1000 } };
    }
  }

  /** The child knows it now, or will never want to. */
  remove(note) {
    this.waiting = this.waiting.filter((other) => other !== note);
  }

  #finish({ key, note }) {
    this.#ringing = null;
    this.#told = [...this.#told, key].slice(-capacity);
    this.waiting = [...this.waiting, note].slice(-capacity);
  }
}
