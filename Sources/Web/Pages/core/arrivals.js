import { Meter } from "./statistics.js";

/** Sound that was played this long ago is not being played, ms. */
const playedWithin = 5000;

/** Without anything at all, or without a new picture (sound alone: without sound), nothing is called live, ms. */
const [silent, stale] = [1500, 2500];

/** Whether anything arrives now (ms). */
export const isFresh = ({ phase, dataAt }, now) => phase === "live" && now - dataAt < silent;

/**
 * Whether what is shown, or heard with `audioOnly`, is the present. Pure. The camera's word goes first: it sends a picture in place of a
 * camera's that is missing or paused.
 * @param {{phase: string, audioOnly: boolean, hasNoCamera: boolean, dataAt: number, pictureAt: number, soundAt: number}} watched
 */
export const isLive = (watched, now) => isFresh(watched, now)
  && (watched.audioOnly ? now - watched.soundAt : watched.hasNoCamera ? stale : now - watched.pictureAt) < stale;

/** What came over a watcher's connections, and when: ms since 1970, 0 for never. Asked twice a second, in hidden pages, too. */
export class Arrivals {
  #connection = null;
  #meter = null;
  /** By kind, the timestamp of the last packet that was played or decoded. */
  #stamps = {};
  #heardAt = 0;
  #playedAt = 0;
  #measuredAt = 0;
  pictureAt = 0;
  soundAt = 0;
  dataAt = 0;
  /** @type {Statistics|null} */
  statistics = null;

  /** From now on this connection's; null: none. */
  follow(connection) {
    this.#connection = connection;
    this.#meter = connection && new Meter(connection);
  }

  /** @param {number} heardAt of the control channel @returns {boolean} whether anything came since the last call */
  poll(heardAt) {
    const now = Date.now();
    let came = heardAt !== this.#heardAt;
    this.#heardAt = heardAt;
    for (const receiver of this.#connection?.getReceivers() ?? []) {
      // W3C WebRTC 1.0 section 5.3.1.
      const stamp = receiver.getSynchronizationSources?.()[0]?.rtpTimestamp;
      const { kind } = receiver.track;
      if (stamp === undefined || stamp === this.#stamps[kind]) continue;
      this.#stamps[kind] = stamp;
      came = true;
      if (kind === "video") this.pictureAt = now;
      else this.soundAt = this.#playedAt = now;
    }
    if (came) this.dataAt = now;
    return came;
  }

  /** New statistics once a second; null in between. `told`: `video` of the child's heartbeat. */
  async measure(told) {
    const meter = this.#meter;
    const now = performance.now();
    if (!meter || now - this.#measuredAt < 950) return null;
    this.#measuredAt = now;
    const statistics = await meter.read(told);
    if (!statistics || meter !== this.#meter) return null;
    const bytes = this.statistics?.audioBytes ?? Infinity;
    this.statistics = statistics;
    // Sound that no element plays has no timestamp, but its bytes come.
    if (statistics.audioBytes > bytes && Date.now() - this.#playedAt > playedWithin) this.soundAt = this.dataAt = Date.now();
    return statistics;
  }
}
