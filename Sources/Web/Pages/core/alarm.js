/** Seconds, and what counts as an alarm: as `Alarm.Limits` in Alarm.swift, where each is explained. False: the kind is only a notice. */
export const defaultLimits = Object.freeze({
  gap: 3.5, first: 15, plannedStop: 90, opening: 10, same: 10, stillInterval: 10, lowDelay: 2.5, test: 30,
  picture: true, microphone: true,
  /** Loudness of the first ringing, at least. */
  ringAtLoudness: 0,
});

// These, too, s.
const [elsewhere, interruption, longest, firstLoudness, louder, louderEvery] = [2, 1.5, 4.5, 0.3, 0.1, 10];

/** The gravest first. */
const order = ["revoked", "link", "microphone", "digital-silence", "camera", "frozen-picture", "own-sound", "test", "child-stopped"];

const finalRefusals = new Set(["not-paired", "expired", "token"]);
/** What keeps this page from being heard without anybody's wish. */
const ownFaults = new Set(["stopped", "made-up"]);

/**
 * Decides what is an alarm, as Alarm.swift. Pure. All times are seconds of one clock, never backwards.
 *
 * What arrives is reported by `note(kind, now, data)`:
 * - "picture" {digest?}, "sound", "heartbeat" {video?: {state, captured, picture?: {rendition}}, audio?: {state, captured, fault?}}: arrivals
 * - "phase" {phase, refusal, audioOnly?, isLent?}: the watcher's; `isLent`: the access of a guest, or a token's; "hello", "goodbye": the child's
 * - "own-sound" {hearing, reason}: the verdict of Sound
 * - "woke" {seconds}: this page did not run for so long; what it could not see is no gap
 */
export class Alarm {
  #limits;
  #phase = "connecting";
  #refused = null;
  /** Nobody watched, or the access was to end anyway. */
  #isExpected = false;
  #audioOnly = false;
  #plannedStop = null;
  /** When the page began to wait for its first data. */
  #began = null;
  #last = { any: null, picture: null, sound: null, change: null };
  #excused = { picture: -Infinity, change: -Infinity };
  #resumed = null;
  #digest = null;
  /** By "video" and "audio": {state, since, captured, at (last progress), told} of the heartbeats; absent: not told to this page. */
  #tracks = {};
  #ownFault = null;
  #test = null;
  /** By kind: {since, from (it rings from then on), acknowledged}. */
  #active = new Map();

  constructor(limits = {}) {
    this.limits = limits;
  }

  set limits(limits) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  note(kind, now, data = {}) {
    switch (kind) {
      case "picture":
        this.#arrived(now);
        this.#last.picture = now;
        if (data?.digest === undefined || data.digest !== this.#digest) this.#last.change = now;
        this.#digest = data?.digest ?? null;
        break;
      case "sound":
        this.#arrived(now);
        this.#last.sound = now;
        break;
      case "heartbeat":
        this.#arrived(now);
        if (this.#tracks.video?.rendition !== data?.video?.picture?.rendition) {
          for (const name of ["picture", "change"]) {
            this.#excused[name] = Math.max(this.#excused[name], Math.min(now, this.#last[name] + this.#delay));
          }
        }
        this.#beat("video", data?.video, now);
        this.#beat("audio", data?.audio, now);
        break;
      case "hello":
        this.#plannedStop = null;
        this.#arrived(now);
        break;
      case "goodbye":
        this.#plannedStop = now;
        break;
      case "phase":
        this.#entered(now, data ?? {});
        break;
      case "own-sound":
        this.#noteOwnSound(ownFaults.has(data?.reason), now);
        break;
      case "woke":
        this.#shift(Number(data?.seconds) || 0, now);
        break;
    }
  }

  /** Everything that is wrong now is known; only what is new rings. */
  acknowledge(now) {
    this.evaluate(now);
    this.#test = null;
    for (const condition of this.#active.values()) condition.acknowledged = true;
  }

  /** Rings as an alarm would. */
  test(now) {
    this.#test = now;
  }

  /** @returns {null | {kind, level: "notice"|"warning"|"alarm", since, acknowledged, loudness}} loudness 0: no ringing */
  evaluate(now) {
    const found = this.#find(now);
    for (const kind of [...this.#active.keys()]) if (!found.has(kind)) this.#active.delete(kind);
    for (const [kind, condition] of found) {
      if (!this.#active.has(kind)) this.#active.set(kind, { ...condition, acknowledged: false });
    }
    const all = order.filter((kind) => this.#active.has(kind)).map((kind) => this.#describe(kind, now));
    return all.find(({ loudness }) => loudness > 0) ?? all.find(({ level }) => level !== "notice") ?? all[0] ?? null;
  }

  #describe(kind, now) {
    const { since, from, acknowledged } = this.#active.get(kind);
    const level = this.#level(kind);
    const rising = firstLoudness + louder * Math.floor(Math.max(0, now - from) / louderEvery);
    const loudness = Math.min(1, Math.max(this.#limits.ringAtLoudness, rising));
    return {
      kind, level, since, acknowledged,
      loudness: acknowledged || level === "notice" ? 0 : Math.round(loudness * 10) / 10,
    };
  }

  #level(kind) {
    const { picture, microphone } = this.#limits;
    if (kind === "child-stopped" || (kind === "revoked" && this.#isExpected) || ((kind === "microphone" || kind === "digital-silence") && !microphone)) return "notice";
    if (!picture && (kind === "camera" || kind === "frozen-picture")) return "notice";
    return kind === "own-sound" ? "warning" : "alarm";
  }

  // MARK: What is known

  #arrived(now) {
    const { any } = this.#last;
    if (any === null || now - any > this.#limits.gap) this.#restart(now);
    if (any !== null && now - any > interruption) this.#resumed = now;
    this.#last.any = now;
  }

  #restart(now) {
    for (const name of ["picture", "sound", "change"]) this.#last[name] = now;
    for (const track of Object.values(this.#tracks)) track.at = track.told = now;
  }

  #beat(name, told, now) {
    if (!told || typeof told !== "object") return void delete this.#tracks[name];
    const { state, captured, fault, picture } = told;
    const before = this.#tracks[name] ?? { since: now, at: now };
    this.#tracks[name] = {
      state, captured, fault, rendition: picture?.rendition, told: now,
      since: before.state === state ? before.since : now,
      // Any other number is progress: another camera counts for itself.
      at: before.captured === captured && state === "running" ? before.at : now,
    };
  }

  #entered(now, { phase, refusal, audioOnly, isLent }) {
    const isFinal = phase === "refused" && finalRefusals.has(refusal?.reason ?? refusal);
    this.#isExpected = Boolean(isLent) || refusal?.reason === "expired" || this.#last.any === null;
    this.#refused = isFinal ? (this.#refused ?? now) : null;
    if (phase === "stopped") {
      this.#began = null;
      this.#last.any = null;
    } else {
      this.#began ??= now;
    }
    if (audioOnly !== undefined && Boolean(audioOnly) !== this.#audioOnly) {
      this.#audioOnly = Boolean(audioOnly);
      this.#last.picture = this.#last.change = now;
      if (this.#tracks.video) this.#tracks.video.at = this.#tracks.video.told = now;
    }
    this.#phase = phase;
  }

  /** Sound that is back for less than the gap has not come back. */
  #noteOwnSound(isFaulty, now) {
    const fault = this.#ownFault;
    if (!isFaulty) {
      if (fault) fault.ended ??= now;
    } else if (fault && fault.ended !== null && now - fault.ended < this.#limits.gap) {
      this.#ownFault = { since: fault.since, ended: null, loose: true };
    } else if (!fault || fault.ended !== null) {
      this.#ownFault = { since: now, ended: null, loose: false };
    }
  }

  #shift(seconds, now) {
    const later = (time) => (time === null ? null : Math.min(now, time + seconds));
    for (const name of Object.keys(this.#last)) this.#last[name] = later(this.#last[name]);
    for (const name of Object.keys(this.#excused)) this.#excused[name] = later(this.#excused[name]);
    for (const track of Object.values(this.#tracks)) Object.assign(track, { at: later(track.at), told: later(track.told) });
    this.#began = later(this.#began);
    this.#resumed = later(this.#resumed);
    if (this.#ownFault) {
      const { since, ended, loose } = this.#ownFault;
      this.#ownFault = { since: later(since), ended: later(ended), loose };
    }
  }

  // MARK: What is wrong

  #find(now) {
    const found = new Map();
    const add = (kind, since, after) => {
      if (since !== null && now - since > after) found.set(kind, { since, from: since + after });
    };
    const at = (kind, since) => found.set(kind, { since, from: since });
    const { gap, first, test } = this.#limits;
    if (this.#test !== null && now - this.#test < test) at("test", this.#test);
    if (this.#phase === "stopped") return found;
    if (this.#refused !== null) {
      at("revoked", this.#refused);
      return found;
    }
    if (this.#plannedStop !== null) {
      if (!this.#active.get("child-stopped")?.acknowledged) add("link", this.#plannedStop, this.#limits.plannedStop);
      if (!found.has("link")) at("child-stopped", this.#plannedStop);
      return found;
    }
    if (this.#last.any === null) add("link", this.#began, first);
    else add("link", this.#last.any, gap);
    if (found.has("link")) {
      // What was acknowledged of the others stays so.
      for (const kind of ["microphone", "digital-silence", "camera", "frozen-picture"]) {
        if (this.#active.has(kind)) found.set(kind, this.#active.get(kind));
      }
      return found;
    }
    if (this.#last.any !== null) this.#findDevices(found, add, at);
    const fault = this.#ownFault;
    if (fault && (fault.ended === null || (fault.loose && now - fault.ended < gap))) add("own-sound", fault.since, gap);
    return found;
  }

  #findDevices(found, add, at) {
    const { gap, opening, same } = this.#limits;
    const { audio, video } = this.#tracks;
    const stands = (kind, since) => {
      if (this.#last.any - since <= elsewhere) return;
      const resumed = this.#resumed !== null && this.#resumed > since ? this.#resumed + elsewhere : since;
      add(kind, since, Math.max(gap, Math.min(resumed - since, longest)));
    };
    const stopped = (track) => track && track.told - track.at > gap ? track.at : Infinity;
    const hasBeat = Boolean(audio || video);
    if (audio?.state === "missing") at(audio.fault === "digital-silence" ? "digital-silence" : "microphone", audio.since);
    else if (audio?.state === "opening") add("microphone", audio.since, opening);
    else if (audio?.state === "running") stands("microphone", Math.min(stopped(audio), this.#last.sound));
    // Without heartbeats (a channel that is not there), what came once is expected.
    else if (!hasBeat) stands("microphone", this.#last.sound);
    if (this.#audioOnly) return;
    if (video?.state === "missing") at(video.fault === "frozen" ? "frozen-picture" : "camera", video.since);
    else if (video?.state === "opening") add("camera", video.since, opening);
    else if (video?.state === "running" || !hasBeat) {
      stands("frozen-picture", Math.min(stopped(video), this.#due("picture")));
      if (!found.has("frozen-picture") && this.#digest !== null) add("frozen-picture", this.#due("change"), same);
    }
  }

  /**
   * Since when a picture ("picture"), or another one ("change"), is missing. The person is notified of what a weak connection
   * leaves, and it does not ring as well.
   */
  #due(name) {
    return Math.max(this.#last[name] + this.#delay, this.#excused[name]);
  }

  /** How late a picture may be, as the child tells. */
  get #delay() {
    switch (this.#tracks.video?.rendition) {
      case "none":
        return Infinity;
      case "stills":
        return this.#limits.stillInterval;
      case "low":
        return this.#limits.lowDelay;
      default:
        return 0;
    }
  }
}
