"use strict";

// What a browser does as the camera's end: `cradleSend.start(options)` makes a picture and a tone, then
// `cradleSend.answer(offer)` resolves to {name, sdp} for one viewer, and `cradleSend.end(name)` lets it go.
//
// options: {width, height, framesPerSecond, kbps, degradation}
globalThis.cradleSend = (() => {
  const TIMECODE_BITS = 32;

  const viewers = new Map();
  let options = null;
  let stream = null;
  let lastName = 0;

  const wallClock = () => performance.timeOrigin + performance.now();

  // --- Picture -------------------------------------------------------------------------------------------------------

  // A smooth texture, wider than the picture so that it can pan.
  function makeTexture(width, height) {
    const small = new OffscreenCanvas(Math.ceil(width / 16), Math.ceil(height / 16));
    const context = small.getContext("2d");
    const cells = context.createImageData(small.width, small.height);
    let state = 1;
    for (let at = 0; at < cells.data.length; at += 4) {
      for (let plane = 0; plane < 3; plane += 1) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        cells.data[at + plane] = 60 + (state >>> 25);
      }
      cells.data[at + 3] = 255;
    }
    context.putImageData(cells, 0, 0);
    const large = new OffscreenCanvas(width, height);
    large.getContext("2d").drawImage(small, 0, 0, width, height);
    return large;
  }

  // The timecode TC32: the unix time in ms modulo 2^32, the first bit on the left, and its inverse below as a check.
  function stamp(context, width) {
    const side = 2 * Math.floor(width / 80);
    const now = Math.floor(wallClock()) % 2 ** TIMECODE_BITS;
    for (let bit = 0; bit < TIMECODE_BITS; bit += 1) {
      const isOne = Math.floor(now / 2 ** (TIMECODE_BITS - 1 - bit)) % 2 === 1;
      // Full white and black become luma 235 and 16.
      context.fillStyle = isOne ? "#fff" : "#000";
      context.fillRect(bit * side, 0, side, side);
      context.fillStyle = isOne ? "#000" : "#fff";
      context.fillRect(bit * side, side, side, side);
    }
  }

  function makePicture() {
    const { width, height, framesPerSecond } = options;
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    const texture = makeTexture(width + 128, height);
    let number = 0;
    const draw = () => {
      number += 1;
      context.drawImage(texture, -Math.abs(((2 * number) % 256) - 128), 0);
      context.fillStyle = "#ddd";
      context.fillRect((20 * number) % (width - 64), height / 2, 64, 64);
      stamp(context, width);
    };
    // Each at its own time: an interval of whole milliseconds would make 31 a second.
    const interval = 1000 / framesPerSecond;
    let due = performance.now();
    const next = () => {
      draw();
      // What was missed is not made up for.
      due = Math.max(due + interval, performance.now());
      setTimeout(next, due - performance.now());
    };
    next();
    // A rate here would be a second clock beside the timer, and their beat would drop pictures.
    return canvas.captureStream().getVideoTracks()[0];
  }

  // --- Tone ----------------------------------------------------------------------------------------------------------

  // 1 kHz at -20 dBFS; 2 kHz in the first 100 ms of each second of the wall clock.
  async function makeTone() {
    const audio = new AudioContext({ sampleRate: 48000 });
    await audio.resume();
    const oscillator = new OscillatorNode(audio, { frequency: 1000 });
    const volume = new GainNode(audio, { gain: 0.1 });
    const destination = new MediaStreamAudioDestinationNode(audio, { channelCount: 1 });
    oscillator.connect(volume).connect(destination);
    oscillator.start();
    const beep = () => {
      const next = audio.currentTime + (1000 - (wallClock() % 1000)) / 1000;
      oscillator.frequency.setValueAtTime(2000, next);
      oscillator.frequency.setValueAtTime(1000, next + 0.1);
      // In the middle of the second, so that neither clock's haste skips one.
      setTimeout(beep, 1500 - (wallClock() % 1000));
    };
    setTimeout(beep, (1500 - (wallClock() % 1000)) % 1000);
    return destination.stream.getAudioTracks()[0];
  }

  async function start(given) {
    options = given;
    stream = new MediaStream([makePicture(), await makeTone()]);
  }

  // --- Viewers -------------------------------------------------------------------------------------------------------

  function serve(channel) {
    const send = (message) => channel.readyState === "open" && channel.send(JSON.stringify(message));
    const open = () => {
      send({ text: "hello", parameters: { version: "chromium" } });
      const beat = setInterval(() => send({ text: "heartbeat" }), 1000);
      channel.onclose = () => clearInterval(beat);
    };
    channel.onmessage = (event) => {
      const { id } = JSON.parse(event.data);
      send({ inReplyTo: id, text: "ok", parameters: { time: wallClock() / 1000 } });
    };
    if (channel.readyState === "open") open();
    else channel.onopen = open;
  }

  function preferVP8(transceiver) {
    const codecs = RTCRtpSender.getCapabilities("video").codecs;
    const rank = (codec) => (codec.mimeType === "video/VP8" ? 0 : 1);
    transceiver.setCodecPreferences([...codecs].sort((a, b) => rank(a) - rank(b)));
  }

  async function limit(sender) {
    const parameters = sender.getParameters();
    // By default the resolution is kept: much smaller pictures would have an unreadable timecode.
    parameters.degradationPreference = options.degradation;
    for (const encoding of parameters.encodings) encoding.maxBitrate = options.kbps * 1000;
    await sender.setParameters(parameters);
  }

  async function answer(offer) {
    const connection = new RTCPeerConnection({ iceServers: [] });
    try {
      connection.ondatachannel = (event) => serve(event.channel);
      await connection.setRemoteDescription({ type: "offer", sdp: offer });
      for (const transceiver of connection.getTransceivers()) {
        const { sender, receiver } = transceiver;
        const track = stream.getTracks().find((each) => each.kind === receiver.track.kind);
        // What the viewer would send is left alone.
        transceiver.direction = "sendonly";
        await sender.replaceTrack(track);
        sender.setStreams(stream);
        if (track.kind === "video") preferVP8(transceiver);
      }
      await connection.setLocalDescription();
      for (const sender of connection.getSenders()) {
        if (sender.track?.kind === "video") await limit(sender);
      }
      while (connection.iceGatheringState !== "complete") {
        await new Promise((done) => connection.addEventListener("icegatheringstatechange", done, { once: true }));
      }
    } catch (error) {
      connection.close();
      throw error;
    }
    lastName += 1;
    const name = String(lastName);
    viewers.set(name, connection);
    connection.addEventListener("connectionstatechange", () => {
      if (connection.connectionState === "failed") end(name);
    });
    return { name, sdp: connection.localDescription.sdp };
  }

  function end(name) {
    viewers.get(name)?.close();
    viewers.delete(name);
  }

  return { start, answer, end, count: () => viewers.size };
})();
