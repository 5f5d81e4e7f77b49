/** Losses are reported over this long, ms. */
const lossWindow = 10_000;

const rate = (now, before, seconds) => Math.max(0, now - before) / seconds;
const share = (some, all) => (all > 0 ? Math.max(0, Math.min(100, (some / all) * 100)) : 0);
const round = (value, digits = 1) => (Number.isFinite(value) ? Number(value.toFixed(digits)) : null);

function selectedPair(entries, byId) {
  const transport = entries.find((entry) => entry.type === "transport" && entry.selectedCandidatePairId);
  if (transport) return byId.get(transport.selectedCandidatePairId);
  // Firefox has no transport.
  const pairs = entries.filter((entry) => entry.type === "candidate-pair");
  return pairs.find((pair) => pair.selected) ?? pairs.find((pair) => pair.nominated && pair.state === "succeeded");
}

/** Sender reports that are kept. */
const reports = 16;
/** No report is so much later than another, ms: somebody has set the child's clock. */
const clockStep = 3000;
/** Of a picture, in its RTP timestamps. RFC 7741. */
const unitsPerMs = 90;
/** More is nonsense, ms. */
const oldest = 60_000;

/**
 * How old the picture is that is shown. A browser that only receives does not tell: what `captureTimestamp` and
 * `estimatedPlayoutTimestamp` would be takes a round trip that it does not know. So the child tells when the picture with some
 * RTP timestamp was captured, on its clock; each sender report says what time it was there when it left (RFC 3550, 6.4.1), and
 * the fastest one took about half of the least round trip.
 */
export class Age {
  #samples = [];

  /**
   * @param {object} report `remote-outbound-rtp` of the picture
   * @param {object} shown the picture's RTCRtpSynchronizationSource: rtpTimestamp, and timestamp, when it came out
   * @param {object} told `video` of the child's heartbeat: rtpTimestamp, captureTimestamp (ms since 1970, its clock)
   * @param {number|null} roundTripMs
   * @returns {number|null} ms; null while that is not known
   */
  note({ timestamp, remoteTimestamp }, shown, told, roundTripMs) {
    if (timestamp > 0 && remoteTimestamp > 0 && roundTripMs !== null) {
      const [difference, last] = [timestamp - remoteTimestamp, this.#samples.at(-1)];
      if (last && Math.abs(difference - last.difference) > clockStep) this.#samples = [];
      if (last?.timestamp !== timestamp) this.#samples = [...this.#samples, { timestamp, difference, roundTripMs }].slice(-reports);
    }
    if (this.#samples.length === 0) return null;
    const least = (name) => Math.min(...this.#samples.map((sample) => sample[name]));
    // Timestamps wrap.
    const capturedAt = told.captureTimestamp + ((shown.rtpTimestamp - told.rtpTimestamp) | 0) / unitsPerMs;
    const age = shown.timestamp - (capturedAt + least("difference") - least("roundTripMs") / 2);
    return Number.isFinite(age) && Math.abs(age) < oldest ? Math.max(0, age) : null;
  }
}

/**
 * What a connection does, from one call of `getStats` to the next. W3C "Identifiers for WebRTC's Statistics API".
 *
 * Statistics = {time (ms since 1970), latencyMs (estimate, from the camera to the eye, see `Age`; else from the child's network:
 * half a round trip, waiting for late packets, decoding), roundTripMs, videoKbps, audioKbps, framesPerSecond, width, height, packetsLost,
 * packetsReceived, lossPercent and concealedPercent (of the last 10 s), freezeCount, jitterBufferMs, framesDecoded,
 * audioSamplesReceived (without those that were filled in), audioSamplesConcealed, audioBytes, videoBytes, relayed,
 * candidatePair: {local, remote, protocol}|null, codec}. Unknown figures are null.
 */
export class Meter {
  #connection;
  #last = null;
  #age = new Age();
  /** Of the last seconds, the oldest first. */
  #window = [];

  /** @param {RTCPeerConnection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /**
   * @param {object} [told] `video` of the child's heartbeat
   * @returns {Promise<Statistics|null>} null if the browser gives none
   */
  async read(told = {}) {
    let report;
    try {
      report = await this.#connection.getStats();
    } catch {
      return null;
    }
    const entries = [...report.values()];
    const inbound = (kind) => entries.find((entry) => entry.type === "inbound-rtp" && entry.kind === kind) ?? {};
    const [video, audio] = [inbound("video"), inbound("audio")];
    const sample = {
      time: Date.now(), clock: performance.now(),
      videoBytes: video.bytesReceived ?? 0, audioBytes: audio.bytesReceived ?? 0, frames: video.framesDecoded ?? 0,
      lost: (video.packetsLost ?? 0) + (audio.packetsLost ?? 0),
      received: (video.packetsReceived ?? 0) + (audio.packetsReceived ?? 0),
      samples: audio.totalSamplesReceived ?? 0, concealed: audio.concealedSamples ?? 0,
      processing: video.totalProcessingDelay ?? (video.jitterBufferDelay ?? 0) + (video.totalDecodeTime ?? 0),
      buffered: (video.jitterBufferDelay ?? audio.jitterBufferDelay) ?? 0,
      emitted: (video.jitterBufferDelay === undefined ? audio : video).jitterBufferEmittedCount ?? 0,
    };
    const result = this.#compare(sample);
    this.#describe(result, entries, report, video, audio, told);
    return result;
  }

  #compare(sample) {
    const last = this.#last ?? sample;
    this.#last = sample;
    this.#window.push(sample);
    while (this.#window.length > 1 && sample.clock - this.#window[0].clock > lossWindow) this.#window.shift();
    const first = this.#window[0];
    const seconds = Math.max(0.001, (sample.clock - last.clock) / 1000);
    const lost = Math.max(0, sample.lost - first.lost);
    const frames = sample.frames - last.frames;
    const emitted = sample.emitted - last.emitted;
    return {
      time: sample.time,
      videoKbps: round(rate(sample.videoBytes, last.videoBytes, seconds) * 0.008),
      audioKbps: round(rate(sample.audioBytes, last.audioBytes, seconds) * 0.008),
      framesPerSecond: round(rate(sample.frames, last.frames, seconds)),
      packetsLost: sample.lost, packetsReceived: sample.received,
      lossPercent: round(share(lost, lost + sample.received - first.received), 2),
      concealedPercent: round(share(sample.concealed - first.concealed, sample.samples - first.samples), 2),
      framesDecoded: sample.frames, audioSamplesReceived: Math.max(0, sample.samples - sample.concealed),
      audioSamplesConcealed: sample.concealed, audioBytes: sample.audioBytes, videoBytes: sample.videoBytes,
      processingMs: frames > 0 ? round(((sample.processing - last.processing) / frames) * 1000) : null,
      jitterBufferMs: emitted > 0 ? round(((sample.buffered - last.buffered) / emitted) * 1000) : null,
    };
  }

  #describe(result, entries, report, video, audio, told) {
    const pair = selectedPair(entries, report);
    const [local, remote] = [report.get(pair?.localCandidateId), report.get(pair?.remoteCandidateId)];
    const address = (candidate) =>
      candidate ? `${candidate.candidateType} ${candidate.address ?? "?"}:${candidate.port ?? "?"}` : "?";
    result.roundTripMs = pair?.currentRoundTripTime === undefined ? null : round(pair.currentRoundTripTime * 1000);
    const sent = entries.find((entry) => entry.type === "remote-outbound-rtp" && entry.kind === "video") ?? {};
    const receiver = this.#connection.getReceivers().find(({ track }) => track.kind === "video");
    const age = this.#age.note(sent, receiver?.getSynchronizationSources?.()[0] ?? {}, told, result.roundTripMs);
    const estimate = result.processingMs === null ? null : (result.roundTripMs ?? 0) / 2 + result.processingMs;
    result.latencyMs = round(age ?? estimate ?? NaN);
    result.width = video.frameWidth ?? null;
    result.height = video.frameHeight ?? null;
    result.freezeCount = video.freezeCount ?? null;
    result.relayed = local?.candidateType === "relay" || remote?.candidateType === "relay";
    result.candidatePair = pair ? { local: address(local), remote: address(remote), protocol: local?.protocol ?? "udp" } : null;
    result.codec = [video, audio].map(({ codecId }) => report.get(codecId)?.mimeType?.split("/")[1]).filter(Boolean).join(", ") || null;
  }
}
