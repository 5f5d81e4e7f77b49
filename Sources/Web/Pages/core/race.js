// As in LineRace.swift, ms. `patienceBeforeOwn`: while an own address is open; `patienceAlone`: while no other is, or one that failed lately.
const [headStart, patience, patienceBeforeOwn, patienceAlone, patienceForMedia, hold, demotion] = [300, 3000, 1000, 8000, 8000, 1000, 300_000];

/**
 * Which room a session uses: the first that is open, and until there is media the next one when it fails, or brings nothing that the child has signed:
 * who opens it proves nothing by that. As LineRace.swift. It only decides: times are passed in, in ms, and `step` says what is due.
 */
export class Race {
  #lines;
  #began;
  #failures;
  /** The room in use. */
  current;

  /**
   * @param {{url: string, isOwn: boolean}[]} lines the address of the pairing first; those that are not `isOwn` are meeting places. Their other fields
   * are the caller's, but for `state`, `at`, `isLast` and `isAnswered`
   * @param {Map<string, number>} failures when a place failed, by URL: changed here, and kept for the next race
   */
  constructor(lines, failures, now) {
    [this.#lines, this.#began, this.#failures] = [lines, now, failures];
    for (const line of lines) {
      const failedAt = failures.get(line.url);
      const isLast = now - failedAt < demotion;
      // `at`: when it came into its state; of one that has failed lately, when it failed.
      Object.assign(line, { isLast, state: "idle", at: isLast ? failedAt : now });
    }
  }

  /** The room is open, and the child is there as far as it shows. */
  opened(line, now) {
    if (line.state !== "opening") return;
    line.state = "ready";
    if (!line.isLast) line.at = now;
  }

  /** The room is of no use, or was lost before there was media. */
  failed(line, now) {
    line.state = "over";
    if (line !== this.current) return;
    this.current = undefined;
    if (!line.isOwn) this.#failures.set(line.url, now);
  }

  /** The child has answered in the room in use. */
  answered(now) {
    Object.assign(this.current, { isAnswered: true, at: now });
  }

  /** The session has media. */
  settled() {
    this.#failures.delete(this.current.url);
  }

  /**
   * @returns {{open: Line[], use: Line?, isSilent: boolean, isOver: boolean}} the rooms to open (`opened` or `failed` follows); the one to use from now
   * on, if there is a new one; whether the one in use has had its time, and should fail; whether all have failed
   */
  step(now) {
    const open = this.#lines.filter(({ state }, number) => state === "idle" && (number === 0 || now >= this.#othersBegin));
    for (const line of open) line.state = "opening";
    const next = this.#lines.filter(({ state }) => state === "ready").sort((a, b) => rank(a) - rank(b) || a.at - b.at)[0];
    const { current } = this;
    const use = !current && next && this.#mayUse(next, now) ? next : undefined;
    if (use) this.current = Object.assign(use, { state: "used", at: now });
    return {
      open, use, isSilent: Boolean(current) && now >= current.at + patienceOf(current, next), isOver: this.#lines.every(({ state }) => state === "over"),
    };
  }

  get #othersBegin() {
    const [first] = this.#lines;
    if (first.state === "over") return this.#began;
    return first.state === "used" ? first.at + patienceBeforeOwn : this.#began + headStart;
  }

  #mayUse({ isLast }, now) {
    const isAwaited = (isOwn) => this.#lines.some((line) => ["idle", "opening"].includes(line.state) && line.isOwn === isOwn && !line.isLast);
    return !isLast || !(isAwaited(false) && now < this.#began + patience) && !(isAwaited(true) && now < this.#began + hold);
  }
}

const rank = ({ isOwn, isLast }) => (isOwn ? 0 : isLast ? 2 : 1);

function patienceOf({ isAnswered }, next) {
  if (!next || next.isLast) return isAnswered ? Infinity : patienceAlone;
  if (isAnswered) return patienceForMedia;
  return next.isOwn ? patienceBeforeOwn : patience;
}
