"use strict";

// What a browser does as a viewer: `cradleWatch.watch(options)` watches a WHEP server for a while and resolves to one
// record of what came; `cradleWatch.leave()` ends the session. Pictures and sound are handed over as they were
// measured, so that meters.py judges them as it does for every other viewer. `cradleWatch.flows()` resolves when the first
// media has come.
//
// options: {url, token, seconds, audioOnly, videoCodec, dataChannel, talk, media, relayPort, screenshot, soundSeconds, channel,
// protocol, ping, bandwidth}; sampleMs: how often the browser's own counters are read, if at all
globalThis.cradleWatch = (() => {
  const SAMPLE_RATE = 48000;
  const TIMECODE_BITS = 32;
  const MOST_PICTURES = 50000;
  // How long the first media may take.
  const PATIENCE_MS = 15000;

  let connection = null;
  let location_ = null;
  let token = "";
  let tellThatItFlows = () => {};
  const flowing_ = new Promise((done) => {
    tellThatItFlows = done;
  });

  const wallClock = () => performance.timeOrigin + performance.now();
  const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const rounded = (milliseconds) => Math.round(milliseconds * 100) / 100;

  // --- Pictures ----------------------------------------------------------------------------------------------------

  const timecodeBlock = (width) => 2 * Math.floor(width / 80);

  // TC32 from a luma plane, or null when a block and its check do not contradict each other. Same points as meters.py.
  function readTimecode(luma, offset, stride, width) {
    const side = timecodeBlock(width);
    if (side === 0 || offset + 2 * side * stride > luma.length) return null;
    const half = side / 2;
    let value = 0;
    for (let bit = 0; bit < TIMECODE_BITS; bit += 1) {
      const at = offset + bit * side + half;
      const above = luma[at + half * stride] + luma[at - 1 + (half - 1) * stride];
      const below = luma[at + (side + half) * stride] + luma[at - 1 + (side + half - 1) * stride];
      if (Math.abs(above - below) < 120) return null;
      value = value * 2 + (above > below ? 1 : 0);
    }
    return value;
  }

  // Tells pictures that differ to the eye from those that only differ by coding noise.
  class ChangeDetector {
    #reference = null;

    changed(sample) {
      const reference = this.#reference;
      if (reference !== null && reference.length === sample.length) {
        let difference = 0;
        for (let i = 0; i < sample.length; i += 1) difference += Math.abs(sample[i] - reference[i]);
        // Less than one step of grey on average.
        if (difference < sample.length) return false;
      }
      this.#reference = sample;
      return true;
    }
  }

  // A sample of the luma below the timecode.
  function sampleBelow(luma, offset, stride, width, height) {
    const top = 2 * timecodeBlock(width) + 2;
    const down = Math.max(1, Math.floor(height / 36));
    const along = Math.max(1, Math.floor(width / 64));
    const sample = new Uint8Array(Math.ceil((height - top) / down) * Math.ceil(width / along));
    let count = 0;
    for (let y = top; y < height; y += down) {
      for (let x = 0; x < width; x += along) sample[count++] = luma[offset + y * stride + x];
    }
    return sample;
  }

  function lumaOf(pixels) {
    const luma = new Uint8Array(pixels.length / 4);
    for (let i = 0, at = 0; i < luma.length; i += 1, at += 4) {
      luma[i] = 0.299 * pixels[at] + 0.587 * pixels[at + 1] + 0.114 * pixels[at + 2];
    }
    return luma;
  }

  class Pictures {
    // One [wall clock ms, timecode or null, 1 when it differs from the one before, width, height] for each picture.
    records = [];
    onFirst = () => {};
    #changes = new ChangeDetector();
    #buffer = new Uint8Array(0);
    #canvas = document.createElement("canvas");
    #context = this.#canvas.getContext("2d", { willReadFrequently: true, alpha: false });
    #video = null;
    #lastFrame = null;

    receive(track) {
      if (typeof MediaStreamTrackProcessor === "function") {
        this.#receiveFrames(track).catch((error) => console.error(error));
      } else {
        this.#receiveFromElement(track);
      }
    }

    #add(now, timecode, sample, width, height) {
      if (this.records.length >= MOST_PICTURES) return;
      this.records.push([rounded(now), timecode, this.#changes.changed(sample) ? 1 : 0, width, height]);
      if (this.records.length === 1) this.onFirst();
    }

    async #receiveFrames(track) {
      const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 8 }).readable.getReader();
      for (;;) {
        const { value: frame, done } = await reader.read();
        if (done) return;
        const now = wallClock();
        const { width, height } = frame.visibleRect;
        if (/^(I4|NV12)/.test(frame.format ?? "")) {
          const size = frame.allocationSize();
          if (this.#buffer.length < size) this.#buffer = new Uint8Array(size);
          const [{ offset, stride }] = await frame.copyTo(this.#buffer);
          const luma = this.#buffer;
          const timecode = readTimecode(luma, offset, stride, width);
          this.#add(now, timecode, sampleBelow(luma, offset, stride, width, height), width, height);
        } else {
          this.#addDrawn(now, frame, width, height);
        }
        this.#lastFrame?.close();
        this.#lastFrame = frame;
      }
    }

    #receiveFromElement(track) {
      const video = playMuted("video", track);
      this.#video = video;
      const next = () => {
        const now = wallClock();
        if (video.videoWidth > 0) this.#addDrawn(now, video, video.videoWidth, video.videoHeight);
        video.requestVideoFrameCallback(next);
      };
      video.requestVideoFrameCallback(next);
    }

    // The timecode is read at its own size; below it, a small picture is enough.
    #addDrawn(now, source, width, height) {
      const strip = 2 * timecodeBlock(width);
      const [smallWidth, smallHeight] = [64, 36];
      const canvas = this.#canvas;
      if (canvas.width !== width || canvas.height !== strip + smallHeight) {
        canvas.width = width;
        canvas.height = strip + smallHeight;
      }
      const context = this.#context;
      let timecode = null;
      if (strip > 0) {
        context.drawImage(source, 0, 0, width, strip, 0, 0, width, strip);
        timecode = readTimecode(lumaOf(context.getImageData(0, 0, width, strip).data), 0, width, width);
      }
      context.drawImage(source, 0, strip, width, height - strip, 0, strip, smallWidth, smallHeight);
      const sample = lumaOf(context.getImageData(0, strip, smallWidth, smallHeight).data);
      this.#add(now, timecode, sample, width, height);
    }

    screenshot() {
      const source = this.#lastFrame ?? this.#video;
      if (source === null || this.records.length === 0) return null;
      const [, , , width, height] = this.records[this.records.length - 1];
      const canvas = document.createElement("canvas");
      canvas.width = width;
      canvas.height = height;
      canvas.getContext("2d").drawImage(source, 0, 0, width, height);
      return canvas.toDataURL("image/png");
    }
  }

  // --- Sound -------------------------------------------------------------------------------------------------------

  function playMuted(kind, track) {
    const element = document.createElement(kind);
    element.muted = true;
    element.autoplay = true;
    element.playsInline = true;
    element.srcObject = new MediaStream([track]);
    document.body?.append(element);
    element.play().catch((error) => console.error(error));
    return element;
  }

  class Sound {
    samples = 0;
    error = null;
    #blocks = [];
    #most;

    constructor(seconds) {
      this.#most = seconds * SAMPLE_RATE;
    }

    // Chromium hands remote sound to the page only while an element plays it.
    receive(track) {
      playMuted("audio", track);
      const receive =
        typeof MediaStreamTrackProcessor === "function" ? this.#receiveData(track) : this.#receiveFromGraph(track);
      receive.catch((error) => {
        this.error = String(error);
      });
    }

    #add(values) {
      this.samples += values.length;
      if (this.samples - values.length >= this.#most) return;
      this.#blocks.push(
        Int16Array.from(values, (value) => Math.max(-32768, Math.min(32767, Math.round(value * 32768)))),
      );
    }

    async #receiveData(track) {
      const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 100 }).readable.getReader();
      for (;;) {
        const { value: data, done } = await reader.read();
        if (done) return;
        const values = new Float32Array(data.numberOfFrames);
        const rate = data.sampleRate;
        data.copyTo(values, { planeIndex: 0, format: "f32-planar" });
        data.close();
        if (rate !== SAMPLE_RATE) {
          await reader.cancel();
          return this.#receiveFromGraph(track);
        }
        this.#add(values);
      }
    }

    // An audio graph at the rate that we want; the graph resamples.
    async #receiveFromGraph(track) {
      const context = new AudioContext({ sampleRate: SAMPLE_RATE });
      const code = `registerProcessor("tap", class extends AudioWorkletProcessor {
        block = new Float32Array(3840);
        count = 0;
        process([[channel]]) {
          if (channel === undefined) return true;
          this.block.set(channel, this.count);
          this.count += channel.length;
          if (this.count === this.block.length) {
            this.port.postMessage(this.block);
            this.count = 0;
          }
          return true;
        }
      });`;
      await context.audioWorklet.addModule(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
      const tap = new AudioWorkletNode(context, "tap", { numberOfInputs: 1, numberOfOutputs: 1, channelCount: 1 });
      tap.port.onmessage = ({ data }) => this.#add(data);
      context.createMediaStreamSource(new MediaStream([track])).connect(tap).connect(context.destination);
      await context.resume();
    }

    // 16-bit little-endian mono.
    base64() {
      let text = "";
      for (const block of this.#blocks) {
        const bytes = new Uint8Array(block.buffer);
        for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
      }
      return btoa(text);
    }
  }

  // 440 Hz at -20 dBFS.
  async function talkTrack() {
    const context = new AudioContext({ sampleRate: SAMPLE_RATE });
    const tone = new OscillatorNode(context, { frequency: 440 });
    const level = new GainNode(context, { gain: 0.1 });
    const output = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
    tone.connect(level).connect(output);
    tone.start();
    await context.resume();
    return output.stream.getAudioTracks()[0];
  }

  // --- The control channel -----------------------------------------------------------------------------------------

  function openChannel(options, report) {
    const channel = connection.createDataChannel(options.channel, { protocol: options.protocol });
    let pingedAt = 0;
    channel.onopen = () => {
      report.opened = true;
      pingedAt = performance.now();
      channel.send(options.ping);
    };
    channel.onmessage = ({ data }) => {
      if (typeof data !== "string") return;
      let message;
      try {
        message = JSON.parse(data);
      } catch {
        report.malformed = (report.malformed ?? 0) + 1;
        return;
      }
      if (message.inReplyTo === "1") report.pingMs = rounded(performance.now() - pingedAt);
      else if (message.text === "hello") report.hello = message;
      else if (message.text === "heartbeat") report.heartbeats += 1;
    };
  }

  // --- WHEP --------------------------------------------------------------------------------------------------------

  const authorization = () => (token === "" ? {} : { Authorization: `Bearer ${token}` });

  async function refusal(method, url, response) {
    const detail = (await response.text().catch(() => "")).slice(0, 2000).trim();
    return new Error(`${method} ${url}: ${response.status} ${response.statusText}: ${detail}`);
  }

  async function post(url, offer, report) {
    const headers = { "Content-Type": "application/sdp", ...authorization() };
    const response = await fetch(url, { method: "POST", headers, body: offer, signal: AbortSignal.timeout(15000) });
    report.whepStatus = response.status;
    if (response.status !== 201) throw await refusal("POST", url, response);
    const found = response.headers.get("Location");
    location_ = found === null ? null : new URL(found, url).href;
    return response.text();
  }

  // The answer without the candidates of the other address family.
  function keepFamily(sdp, media) {
    if (media === "any") return sdp;
    const kept = (line) => {
      if (!line.startsWith("a=candidate:")) return true;
      const address = line.split(/\s+/)[4] ?? "";
      if (address.includes(":")) return media === "ipv6";
      return media === "ipv4" && /^[\d.]+$/.test(address);
    };
    return sdp.split(/\r?\n/).filter(kept).join("\r\n");
  }

  // The offer with `b=lines` in its sections for pictures, after their c= lines (RFC 8866 section 9).
  function wanting(sdp, lines) {
    let kind = "";
    return sdp
      .split(/\r?\n/)
      .flatMap((line) => {
        if (line.startsWith("m=")) kind = line.slice(2, 7);
        return line.startsWith("c=") && kind === "video" ? [line, ...lines.map((value) => `b=${value}`)] : [line];
      })
      .join("\r\n");
  }

  // With a relay before the child there is no other way: ours are not told, and those of the child lead to the relay.
  const withoutCandidates = (sdp) =>
    sdp
      .split(/\r?\n/)
      .filter((line) => !line.startsWith("a=candidate:"))
      .join("\r\n");

  function throughRelay(sdp, port) {
    let isFirst = true;
    return sdp
      .split(/\r?\n/)
      .filter((line) => {
        if (!line.startsWith("a=candidate:")) return true;
        const isKept = isFirst;
        isFirst = false;
        return isKept;
      })
      .map((line) => line.replace(/^(a=candidate:\S+ 1 udp \d+) \S+ \d+/i, `$1 127.0.0.1 ${port}`))
      .join("\r\n");
  }

  // Offers carry all of their candidates; there is no server to ask for any, so that takes a few milliseconds.
  async function gathered() {
    const end = performance.now() + 2000;
    while (connection.iceGatheringState !== "complete" && performance.now() < end) await sleep(5);
  }

  // --- Statistics --------------------------------------------------------------------------------------------------

  function selectedPair(entries) {
    const transport = entries.find((entry) => entry.type === "transport" && entry.selectedCandidatePairId);
    if (transport) return entries.find((entry) => entry.id === transport.selectedCandidatePairId);
    const pairs = entries.filter((entry) => entry.type === "candidate-pair");
    return (
      pairs.find((pair) => pair.selected) ?? pairs.find((pair) => pair.nominated && pair.state === "succeeded") ?? null
    );
  }

  async function readStatistics(report) {
    const entries = [...(await connection.getStats()).values()];
    const byId = (id) => entries.find((entry) => entry.id === id);
    const inbound = entries.filter((entry) => entry.type === "inbound-rtp");
    const video = inbound.find((entry) => entry.kind === "video");
    const audio = inbound.find((entry) => entry.kind === "audio");
    if (inbound.length > 0) report.packetsLost = inbound.reduce((sum, entry) => sum + (entry.packetsLost ?? 0), 0);
    report.audioPackets = audio?.packetsReceived ?? 0;
    report.framesDecoded = video?.framesDecoded ?? 0;
    const mimeType = byId((video ?? audio)?.codecId)?.mimeType;
    report.codec = mimeType ? mimeType.split("/")[1] : null;
    const pair = selectedPair(entries);
    if (pair) {
      const candidate = (id) => {
        const { address = null, port = null, candidateType = null } = byId(id) ?? {};
        return { address: address || null, port, type: candidateType };
      };
      report.candidatePair = { local: candidate(pair.localCandidateId), remote: candidate(pair.remoteCandidateId) };
      report.statistics.roundTripMs = rounded((pair.currentRoundTripTime ?? 0) * 1000);
    }
    const videoFields = [
      ["freezeCount", "freezeCount"],
      ["totalFreezesDuration", "totalFreezesSeconds"],
      ["framesPerSecond", "framesPerSecond"],
      ["framesDropped", "framesDropped"],
      ["keyFramesDecoded", "keyFramesDecoded"],
      ["packetsReceived", "videoPackets"],
      ["packetsDiscarded", "videoPacketsDiscarded"],
      ["bytesReceived", "videoBytes"],
      ["nackCount", "nackCount"],
      ["pliCount", "pliCount"],
      ["decoderImplementation", "decoder"],
    ];
    for (const [field, name] of videoFields) if (video?.[field] !== undefined) report.statistics[name] = video[field];
    if (audio?.concealedSamples !== undefined) report.statistics.concealedSamples = audio.concealedSamples;
    if (video?.jitterBufferEmittedCount > 0) {
      report.statistics.jitterBufferMs = rounded((video.jitterBufferDelay / video.jitterBufferEmittedCount) * 1000);
    }
  }

  // The counters of one moment, as webrtc-stats names them.
  const SAMPLED = {
    video: [
      "framesDecoded", "framesDropped", "framesReceived", "keyFramesDecoded", "freezeCount", "totalFreezesDuration",
      "bytesReceived", "packetsReceived", "packetsLost", "retransmittedPacketsReceived", "nackCount", "pliCount",
      "frameWidth", "frameHeight", "jitterBufferDelay", "jitterBufferTargetDelay", "jitterBufferMinimumDelay",
      "jitterBufferEmittedCount", "totalDecodeTime", "totalProcessingDelay",
    ],
    audio: [
      "bytesReceived", "packetsReceived", "packetsLost", "packetsDiscarded", "fecPacketsReceived", "fecPacketsDiscarded",
      "totalSamplesReceived", "concealedSamples", "silentConcealedSamples", "concealmentEvents",
      "insertedSamplesForDeceleration", "removedSamplesForAcceleration", "jitterBufferDelay", "jitterBufferTargetDelay",
      "jitterBufferEmittedCount",
    ],
  };

  async function sampled() {
    const sample = { time: wallClock() };
    for (const entry of (await connection.getStats()).values()) {
      if (entry.type !== "inbound-rtp") continue;
      const found = {};
      for (const name of SAMPLED[entry.kind] ?? []) if (entry[name] !== undefined) found[name] = entry[name];
      sample[entry.kind] = found;
    }
    return sample;
  }

  async function soundArrived() {
    const entries = [...(await connection.getStats()).values()];
    return entries.some((entry) => entry.type === "inbound-rtp" && entry.kind === "audio" && entry.packetsReceived > 0);
  }

  // --- Watching ----------------------------------------------------------------------------------------------------

  async function follow(options, report, pictures, sound) {
    let postedAt = 0;
    let firstPicture = () => {};
    const flows = new Promise((done) => {
      firstPicture = done;
    });
    const sincePost = () => rounded(performance.now() - postedAt);
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === "connected" && !report.connected) {
        report.connected = true;
        report.timeToConnectedMs = sincePost();
      }
    };
    pictures.onFirst = () => {
      report.timeToFirstFrameMs = sincePost();
      firstPicture();
    };
    connection.ontrack = ({ track }) => (track.kind === "video" ? pictures : sound).receive(track);
    if (!options.audioOnly) {
      const picture = connection.addTransceiver("video", { direction: "recvonly" });
      const types = [`video/${options.videoCodec}`, "video/rtx"];
      if (options.videoCodec) picture.setCodecPreferences(
        RTCRtpReceiver.getCapabilities("video").codecs.filter((codec) => types.includes(codec.mimeType)));
    }
    if (options.talk) connection.addTransceiver(await talkTrack(), { direction: "sendrecv" });
    else connection.addTransceiver("audio", { direction: "recvonly" });
    if (options.dataChannel) openChannel(options, report.dataChannel);
    await connection.setLocalDescription();
    await gathered();
    const described = connection.localDescription.sdp;
    const told = options.relayPort ? withoutCandidates(described) : described;
    const offer = options.bandwidth.length > 0 ? wanting(told, options.bandwidth) : told;

    postedAt = performance.now();
    const answer = await post(options.url, offer, report);
    report.timeToAnswerMs = sincePost();
    const sdp = options.relayPort ? throughRelay(answer, options.relayPort) : keepFamily(answer, options.media);
    await connection.setRemoteDescription({ type: "answer", sdp });

    const patience = performance.now() + PATIENCE_MS;
    let flowing = false;
    flows.then(() => {
      flowing = true;
    });
    while (!flowing) {
      if (connection.connectionState === "failed") throw new Error("connection failed");
      if (performance.now() > patience) {
        throw new Error(`no media within ${PATIENCE_MS / 1000} s; connection is ${connection.connectionState}`);
      }
      await Promise.race([flows, sleep(100)]);
      if (options.audioOnly && connection.connectionState === "connected") flowing = await soundArrived();
    }
    tellThatItFlows();
    const end = performance.now() + options.seconds * 1000;
    let nextSample = options.sampleMs ? performance.now() : Infinity;
    report.samples = [];
    while (performance.now() < end) {
      if (connection.connectionState === "failed") throw new Error("connection failed");
      if (performance.now() >= nextSample) {
        report.samples.push(await sampled());
        nextSample += options.sampleMs;
      }
      await sleep(Math.min(200, Math.max(1, Math.min(end, nextSample) - performance.now())));
    }
    if (options.sampleMs) report.samples.push(await sampled());
  }

  async function watch(options) {
    const report = {
      connected: false,
      error: null,
      whepStatus: null,
      dataChannel: { opened: false, hello: null, pingMs: null, heartbeats: 0 },
      statistics: {},
    };
    const pictures = new Pictures();
    const sound = new Sound(options.soundSeconds);
    token = options.token;
    connection = new RTCPeerConnection({ iceServers: [] });
    try {
      await follow(options, report, pictures, sound);
    } catch (error) {
      report.error = error instanceof TypeError ? `POST ${options.url}: ${error.message}` : error.message;
      // Nobody waits for what does not come any more.
      tellThatItFlows();
    }
    report.endedAt = wallClock();
    // Date's clock follows the system's; a viewer whose two clocks differ has measured latency wrongly.
    report.statistics.clockDifferenceMs = rounded(Date.now() - wallClock());
    await readStatistics(report).catch((error) => {
      report.error ??= String(error);
    });
    report.statistics.soundError = sound.error;
    report.pictures = pictures.records.slice();
    report.sound = { samples: sound.samples, pcm: sound.base64() };
    report.screenshot = options.screenshot ? pictures.screenshot() : null;
    return JSON.stringify(report);
  }

  // Resolves to what went wrong, or to an empty string.
  async function leave() {
    let problem = "";
    if (location_ !== null) {
      const url = location_;
      location_ = null;
      try {
        const signal = AbortSignal.timeout(5000);
        const response = await fetch(url, { method: "DELETE", headers: authorization(), signal });
        if (!response.ok) problem = (await refusal("DELETE", url, response)).message;
      } catch (error) {
        problem = `DELETE ${url}: ${error.message}`;
      }
    }
    connection?.close();
    return problem;
  }

  return { watch, leave, flows: () => flowing_ };
})();
