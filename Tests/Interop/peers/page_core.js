"use strict";

// What a browser does with the page's modules. `pageCore.load(folder)` imports them; each function gives JSON.
globalThis.pageCore = (() => {
  const modules = {};
  const watched = [];
  let store, identity;

  const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  /** Waits until `holds` gives something true; its value, or an error that says what was waited for. */
  async function until(what, holds, seconds = 40) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const value = await holds();
      if (value) return value;
      if (performance.now() > end) throw new Error(`waited ${seconds} s for: ${what}; ${describe()}`);
      await sleep(50);
    }
  }

  const describe = () => JSON.stringify(watched.map(({ watcher, sound, monitor }) => ({
    phase: watcher.phase, refusal: watcher.refusal, reconnect: watcher.lastReconnect, verdict: sound.verdict,
    alarm: monitor.alarm, frames: watcher.statistics?.framesDecoded,
  })));

  async function load(folder) {
    const names = ["buffer", "bytes", "spake2plus", "digest", "words", "pairing", "store", "watcher", "sound", "monitor", "alarm", "jws", "identity", "away", "restart", "statistics", "race", "arrivals"];
    for (const name of names) modules[name] = await import(`${folder}core/${name}.js`);
    modules.mix = await import(`${folder}rooms/mix.js`);
    modules.texts = await import(`${folder}texts/texts.js`);
    store = await modules.store.open();
    identity = await store.identity();
    return { id: identity.id, isLasting: store.isLasting };
  }

  const check = (holds, what) => {
    if (!holds) throw new Error(what);
  };

  async function pairing(means) {
    try {
      const { child, words, permissions } = await modules.pairing.pair(
        { origin: location.origin, ...means }, { identity, name: "Phone" });
      await store.saveChild(child);
      return { id: child.id, name: child.name, words, permissions };
    } catch (error) {
      check(error instanceof modules.pairing.PairingError, `not a PairingError: ${error.stack}`);
      return { reason: error.reason, triesLeft: error.triesLeft };
    }
  }

  // By the address of this page: the child may name another one.
  const pairByLink = (link) => pairing({ secret: modules.pairing.parseLink(link).secret });
  const pairByCode = (code) => pairing({ code: modules.pairing.parseCode(code) });

  /** Begins to watch; the number of the watcher. */
  async function watch(options = {}) {
    const known = (await store.children())[0];
    const child = options.token
      ? { id: `token:${location.origin}`, origin: location.origin, name: "", publicKeySPKI: null, permissions: [], token: options.token }
      : { ...known, ...options };
    const watcher = new modules.watcher.Watcher(child, { identity, store });
    const video = document.createElement("video");
    video.muted = video.autoplay = video.playsInline = true;
    video.srcObject = watcher.picture;
    document.body.append(video);
    const sound = new modules.sound.Sound(watcher);
    const monitor = new modules.monitor.Monitor(watcher, { video, sound, limits: {} });
    const events = [];
    for (const name of ["hello", "goodbye", "close"]) watcher.addEventListener(name, () => events.push(name));
    const entry = { watcher, video, sound, monitor, events };
    const began = performance.now();
    video.requestVideoFrameCallback?.(() => (entry.firstPictureMs = performance.now() - began));
    watcher.start();
    return watched.push(entry) - 1;
  }

  function leave(index) {
    const { watcher, video, sound, monitor } = watched[index];
    watcher.stop();
    monitor.close();
    sound.close();
    video.remove();
  }

  const isLive = (index) => watched[index].watcher.phase === "live" && watched[index].watcher.control.isOpen
    && watched[index].watcher.control.hello !== null;

  /** Live, and pictures come: since now. */
  async function seen(index) {
    const { watcher } = watched[index];
    const now = Date.now();
    await until("live", () => isLive(index));
    await until("a picture", () => watcher.pictureAt > now);
    return { connectedMs: watcher.times.session.connected - watcher.times.session.began };
  }

  function sample(video) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 36];
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0, 64, 36);
    return context.getImageData(0, 0, 64, 36).data;
  }

  async function pictureChanges(index) {
    const { video } = watched[index];
    await until("a picture in the element", () => video.videoWidth > 0);
    const first = sample(video);
    await until("another picture", () => sample(video).some((value, i) => Math.abs(value - first[i]) > 24));
    return { width: video.videoWidth, height: video.videoHeight };
  }

  const rootMeanSquare = (samples) => Math.hypot(...samples) / Math.sqrt(samples.length);

  /** Of some milliseconds of a track. Without an output device Chromium's audio graph does not run. */
  async function loudness(track) {
    if (typeof MediaStreamTrackProcessor === "function") {
      const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
      const { value: data } = await reader.read();
      const samples = new Float32Array(data.numberOfFrames);
      data.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
      data.close();
      await reader.cancel();
      return rootMeanSquare(samples);
    }
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    await context.resume();
    await sleep(200);
    const samples = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(samples);
    await context.close();
    return rootMeanSquare(samples);
  }

  async function soundArrives(index) {
    const { sound, watcher } = watched[index];
    check(await sound.play(), "it does not play");
    await until("hearing", () => sound.verdict.hearing);
    // The tone has -20 dBFS.
    await until("a tone", async () => (await loudness(watcher.sound.getAudioTracks()[0])) > 0.02);
    sound.muted = true;
    check(sound.verdict.reason === "muted", "muted is not told");
    sound.muted = false;
    return {};
  }

  async function failure(promise) {
    try {
      await promise;
      return "nothing";
    } catch (error) {
      return error.code ?? error.message;
    }
  }

  async function orders(index) {
    const { control } = watched[index].watcher;
    const on = await control.request("light.set", { state: "on", brightness: 40 });
    check(on.light.state === "on" && on.light.brightness === 40, JSON.stringify(on));
    await until("the light in the state", () => control.state.lights?.[0]?.state === "on");
    await control.request("light.set", { state: "off" });
    await until("the light off in the state", () => control.state.lights?.[0]?.state === "off");
    const { tracks } = await control.request("lullaby.list");
    check(tracks.some(({ id }) => id === "white-noise"), JSON.stringify(tracks));
    const still = await control.screenshot();
    const bytes = new Uint8Array(await still.blob.arrayBuffer());
    check(bytes[0] === 0xff && bytes[1] === 0xd8 && still.width === 640 && still.height === 360, `a picture of ${bytes.length} bytes`);
    check((await failure(control.request("nonsense"))) === "unknown-command", "an unknown order");
    check((await failure(control.request("light.set", { state: "maybe" }))) === "bad-parameters", "bad parameters");
    await until("a heartbeat", () => control.heartbeat?.video?.captured > 0);
    await until("a level", () => control.level !== null);
    const statistics = await until("statistics", () => watched[index].watcher.statistics?.videoKbps > 0 && watched[index].watcher.statistics);
    check(statistics.audioKbps > 0 && statistics.width === 640 && statistics.candidatePair !== null, JSON.stringify(statistics));
    return {};
  }

  /** The messages of a child, changed on the way to the control client, are no errors. */
  async function nonsense(index) {
    const { control } = watched[index].watcher;
    const errors = [];
    addEventListener("error", ({ message }) => errors.push(message));
    const channel = new EventTarget();
    Object.assign(channel, { readyState: "open", send() {} });
    const other = new control.constructor();
    other.attach(channel);
    const pending = other.screenshot();
    for (const data of ["", "{", "null", "[]", "7", '{"text":7}', '{"text":"hello"}', '{"text":"hello","parameters":{"state":7,"permissions":"all"}}',
      '{"text":"state","parameters":{"lights":7,"viewers":[1]}}', '{"text":"level"}', '{"text":"event"}', '{"text":"heartbeat","parameters":[]}',
      '{"text":"tomorrow","parameters":{}}', '{"text":"ok","inReplyTo":"99"}', '{"text":"error"}', '{"text":"ok","inReplyTo":"1","parameters":{"size":1e99}}',
      new ArrayBuffer(0), new ArrayBuffer(3), new ArrayBuffer(9), new Blob([])]) channel.onmessage({ data });
    check((await failure(pending)) === "internal", "a picture without a size");
    await sleep(0);
    check(errors.length === 0, errors.join());
    return {};
  }

  async function keys() {
    check(identity.privateKey.extractable === false, "the key can be read");
    check((await failure(crypto.subtle.exportKey("pkcs8", identity.privateKey))) !== "nothing", "the key was read");
    const again = await (await modules.store.open()).identity();
    check(again.id === identity.id, "another key after opening again");
    const { seal, open } = modules.jws;
    const expected = { key: identity.publicKeySPKI, from: identity.id, to: "0123456789abcdef" };
    const text = await seal({ type: "bye", from: identity.id, to: expected.to }, identity);
    check((await open(text, expected)).type === "bye", "an own message");
    const [header, payload, signature] = text.split(".");
    const encoded = (value) => modules.bytes.base64url(modules.bytes.utf8(JSON.stringify(value)));
    for (const wrong of ["", "a.b.c", `${header}.${payload}`, `${header}.${payload}.${signature}.`, `${header}.${encoded({ from: identity.id, to: expected.to })}.${signature}`,
      `${encoded({ alg: "none", kid: identity.id })}.${payload}.`, `${encoded({ alg: "ES256", kid: identity.id, jwk: {} })}.${payload}.${signature}`, text + "=", 7, null]) {
      check((await failure(open(wrong, expected))) !== "nothing", `opened ${wrong}`);
    }
    check((await failure(open(text, { ...expected, to: "f123456789abcdef" }))) !== "nothing", "another's message");
    return {};
  }

  /** What a child tells for the way from elsewhere, sensible or not; and the descriptions of an ICE restart. */
  async function away() {
    const { meetingObstacle, meetingSockets, readAway } = modules.away;
    const nothing = JSON.stringify({ iceServers: [], meetings: [] });
    for (const told of [undefined, null, 7, "all", [], {}, { iceServers: 7, meetings: {} }, { iceServers: [null, 7, {}, { urls: [] }], meetings: [null, {}, { kind: 1, url: 2 }] },
      { iceServers: [{ urls: ["http://a", 7, "turn:a"] }, { urls: "turn:a", username: "u" }, { urls: "stun:a".padEnd(600, "a") }] }]) {
      check(JSON.stringify(readAway(told)) === nothing, JSON.stringify(readAway(told)));
    }
    const turn = { urls: ["turn:192.0.2.7:3478?transport=udp", "turns:turn.example.org"], username: "u", credential: "c" };
    const { iceServers } = readAway({ iceServers: [{ urls: "stun:192.0.2.7", more: 1 }, turn, ...Array(20).fill(turn)] });
    check(iceServers.length === 8 && JSON.stringify(iceServers.slice(0, 2)) === JSON.stringify([{ urls: ["stun:192.0.2.7"] }, turn]), JSON.stringify(iceServers));
    new RTCPeerConnection({ iceServers: iceServers.slice(0, 2) }).close();
    const key = "ab".repeat(32);
    const places = [["rendezvous", "wss://a.example", undefined, null, "wss://a.example/signal"], ["rendezvous", "wss://a.example:444/rooms", undefined, null, "wss://a.example:444/rooms"],
      ["rendezvous", "wss://a.example", key, "pinned"], ["mqtt", "wss://a.example", undefined, "kind"], ["rendezvous", "ws://a.example", undefined, "kind"],
      ["rendezvous", "https://a.example", undefined, "kind"], ["rendezvous", "wss://u:p@a.example", undefined, "kind"], ["rendezvous", "nonsense", undefined, "kind"]];
    for (const [kind, url, keySHA256, obstacle, socket] of places) {
      const known = readAway({ meetings: [{ kind, url, keySHA256, password: "p" }] });
      check(known.meetings.length === 1 && !known.meetings[0].password && meetingObstacle(known.meetings[0]) === obstacle, `${kind} ${url}`);
      check(meetingSockets({ away: known }).join() === (socket ?? ""), `${meetingSockets({ away: known })}`);
    }
    check(meetingSockets({}).length === 0, "a child that was paired before");

    // Two connections of this browser: the answer that was made anew has to be accepted.
    const { fragment, restarted } = modules.restart;
    const [ours, theirs] = [new RTCPeerConnection(), new RTCPeerConnection()];
    ours.addTransceiver("audio");
    ours.createDataChannel("control");
    await ours.setLocalDescription();
    await theirs.setRemoteDescription(ours.localDescription);
    await theirs.setLocalDescription();
    const answer = theirs.localDescription.sdp;
    await ours.setRemoteDescription({ type: "answer", sdp: `${answer}a=candidate:1 1 udp 1 192.0.2.7 9 typ host\r\na=end-of-candidates\r\n` });
    const offer = await ours.createOffer({ iceRestart: true });
    await ours.setLocalDescription(offer);
    check(/^a=ice-ufrag:\S+\r\na=ice-pwd:\S+\r\nm=audio 9 UDP\/TLS\/RTP\/SAVPF 0\r\na=mid:0\r\n$/.test(fragment(offer.sdp)), fragment(offer.sdp));
    const told = "a=ice-ufrag:other\r\na=ice-pwd:otherotherotherotherother\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:7 1 udp 7 192.0.2.8 9 typ host\r\n";
    const renewed = restarted(ours.remoteDescription.sdp, told);
    await ours.setRemoteDescription({ type: "answer", sdp: renewed });
    check(!renewed.includes("candidate:1 1") && renewed.split("192.0.2.8").length === 2 && !renewed.includes("end-of"), renewed);
    check(renewed.match(/a=ice-(ufrag|pwd):.*/g).every((line) => line.includes("other")), renewed);
    ours.close();
    theirs.close();
    return {};
  }

  /** Which room is used when, in fake time. */
  /** What is called live, heard, filled in; and how times are written. */
  function truths() {
    const { isFresh, isLive } = modules.arrivals;
    const now = 100_000;
    const good = { phase: "live", audioOnly: false, hasNoCamera: false, dataAt: now - 400, pictureAt: now - 400, soundAt: now - 400 };
    const live = (changes) => isLive({ ...good, ...changes }, now);
    check(live({}) && live({ pictureAt: now - 2400 }), "live");
    check(!live({ phase: "reconnecting" }) && !live({ pictureAt: now - 2600 }) && !live({ pictureAt: 0 }), "an old picture");
    check(!live({ hasNoCamera: true }), "a card in place of a missing camera's pictures");
    check(live({ audioOnly: true, hasNoCamera: true, pictureAt: 0 }) && !live({ audioOnly: true, soundAt: now - 2600 }), "sound alone");
    check(!live({ dataAt: now - 1600, pictureAt: now - 1600 }) && isFresh(good, now) && !isFresh({ ...good, dataAt: now - 1600 }, now), "nothing arrives");

    // Seconds of [received, filled in, whether sound arrives].
    const isTooMuch = (seconds) => {
      const filled = new modules.sound.FilledIn();
      let [received, madeUp] = [0, 0];
      return seconds.map(([came, filledIn, isArriving], second) => {
        filled.note({ time: second * 1000, received: (received += came), madeUp: (madeUp += filledIn) }, isArriving);
        return filled.isTooMuch;
      });
    };
    const [whole, half, none] = [[48000, 0, true], [24000, 24000, true], [0, 48000, true]];
    check(isTooMuch(Array(9).fill(whole)).every((one) => !one), "whole sound");
    check(isTooMuch(Array(9).fill(half)).at(-1), "half of it is missing");
    // A drill withholds the sound; after it every second is whole, and none may count what was filled in meanwhile.
    const drill = [whole, whole, whole, whole, none, none, none, [0, 48000, false], [0, 48000, false], [20000, 28000, true], whole, whole, whole, whole];
    check(isTooMuch(drill).slice(8).every((one) => !one), `after a drill: ${isTooMuch(drill)}`);

    const { localeFor } = modules.texts;
    for (const [language, wanted, locale] of [["en", ["en-GB", "en-US"], "en-GB"], ["en", ["de-DE", "en-US"], "en-US"], ["en", ["de-AT"], "en-AT"], ["en", ["zh-Hans-CN"], "en-CN"],
      ["de", ["de", "de-CH"], "de-CH"], ["ru", ["en-150"], "ru-150"], ["en", [], "en"], ["en", ["C"], "en"]]) {
      check(localeFor(language, wanted) === locale, `${language} of ${wanted}: ${localeFor(language, wanted)}`);
      new Intl.DateTimeFormat(locale);
    }
    check(new Intl.DateTimeFormat("en-GB", { timeStyle: "short" }).format(new Date(2026, 0, 1, 20, 25)) === "20:25", "British times");
    return {};
  }

  function race() {
    const { Race } = modules.race;
    const failures = new Map();
    /**
     * Plays until there is media, or nothing is left.
     * @param rooms what each does, in ms: after it is asked `opens` or `fails`; after the offer `answers` or `breaks`; after the answer `media`
     * @returns the rooms as they were asked and used, each with its time, and the end: "0 1, 1@350 0@2000, media@2100"
     */
    function play(rooms, began = 0) {
      const lines = rooms.map(({ own = false }, number) => ({ url: `wss://${number}`, isOwn: own, ...rooms[number] }));
      const it = new Race(lines, failures, began);
      const [asked, used, due] = [[], [], []];
      let end;
      const at = (time, what) => Number.isFinite(time) && due.push({ time, what });
      for (let now = began; !end; now += 10) {
        const step = () => {
          const { open, use, isSilent, isOver } = it.step(now);
          for (const line of open) {
            asked.push(lines.indexOf(line));
            at(now + line.opens, (time) => it.opened(line, time));
            at(now + line.fails, (time) => it.failed(line, time));
          }
          if (use) {
            used.push(`${lines.indexOf(use)}@${now - began}`);
            const { answers, breaks, media } = use;
            const inUse = (what) => (time) => it.current === use && what(time);
            at(now + breaks, inUse((time) => it.failed(use, time)));
            at(now + answers, inUse((time) => it.answered(time)));
            at(now + answers + media, inUse((time) => {
              it.settled();
              end = `media@${time - began}`;
            }));
          }
          if (isSilent) {
            it.failed(it.current, now);
            step();
          }
          if (isOver) end = `over@${now - began}`;
        };
        for (const one of due.filter(({ time }) => time === now)) {
          one.what(now);
          step();
        }
        if (now % 100 === 0) step();
        check(now < began + 60_000, `no end: ${asked}, ${used}`);
      }
      return `${asked.join(" ")}, ${used.join(" ")}, ${end}`;
    }
    const expectPlay = (what, expected, ...parameters) => {
      const played = play(...parameters);
      check(played === expected, `${what}: ${played}`);
    };
    const answering = { answers: 50, media: 100 };
    const hidden = { own: true, fails: 5000 };
    const good = { opens: 1000, ...answering };
    expectPlay("at home nobody outside is asked", "0, 0@10, media@160", [{ own: true, opens: 10, ...answering }, { opens: 50 }]);
    expectPlay("none of the home answers", "0 1 2, 1@200, media@350", [{ own: true, fails: 100 }, { opens: 100, ...answering }, good]);
    const withholding = [hidden, { opens: 50 }, good];
    expectPlay("it withholds", "0 1 2, 1@350 2@3400, media@3550", withholding);
    expectPlay("it goes last", "0 1 2, 2@1300, media@1450", withholding, 10_000);
    expectPlay("minutes later it is as good as any", "0 1 2, 1@350 2@3400, media@3550", withholding, 310_000);
    failures.clear();
    const denying = [hidden, { opens: 50, breaks: 60 }, good];
    expectPlay("it denies", "0 1 2, 1@350 2@1300, media@1450", denying);
    expectPlay("it goes last, too", "0 1 2, 2@1300, media@1450", denying, 10_000);
    failures.clear();
    expectPlay("one never opens", "0 1 2, 2@1300, media@1450", [hidden, { fails: 5000 }, good]);
    expectPlay("the camera is not at one", "0 1 2, 2@1300, media@1450", [hidden, { fails: 60 }, good]);
    expectPlay("the home answers late", "0 1, 1@350 0@2000, media@2150", [{ own: true, opens: 2000, ...answering }, { opens: 50 }]);
    failures.clear();
    expectPlay("the home answers late, and the place was slow", "0 1, 1@1100 0@2100, media@2250", [{ own: true, opens: 2000, ...answering }, { opens: 800 }]);
    expectPlay("a place that has failed leaves it a second", "0 1, 0@800, media@950", [{ own: true, opens: 800, ...answering }, { opens: 50 }], 10_000);
    expectPlay("and not more", "0 1, 1@1000, media@1150", [hidden, { opens: 50, ...answering }], 10_000);
    expectPlay("one that has worked is as good as any", "0 1, 1@350, media@500", [hidden, { opens: 50, ...answering }], 20_000);
    failures.clear();
    expectPlay("its home is silent", "0 1, 0@10 1@3100, media@3250", [{ own: true, opens: 10 }, { opens: 50, ...answering }]);
    failures.clear();
    expectPlay("two places: the first that is open", "0 1 2, 0@10 2@3100 1@6100, media@6250", [{ own: true, opens: 10 }, { opens: 300, ...answering }, { opens: 50 }]);
    failures.clear();
    expectPlay("it has moved in its home", "0 1, 0@10 1@1150, media@1300", [{ own: true, opens: 10 }, { own: true, opens: 50, ...answering }]);
    expectPlay("it answers, and its media is withheld", "0 1 2, 1@350 2@8400, media@8550", [hidden, { opens: 50, answers: 50 }, good]);
    expectPlay("that goes last, too", "0 1 2, 2@1300, media@1450", [hidden, { opens: 50, answers: 50 }, good], 20_000);
    failures.clear();
    const slow = [{ own: true, fails: 100 }, { opens: 50, answers: 4000, media: 100 }, { opens: 60 }];
    expectPlay("all have failed", "0 1 2, 1@150 2@3200, over@11200", slow);
    expectPlay("a slow one gets its time", "0 1 2, 1@150, media@4250", slow, 20_000);
    failures.set("wss://1", 30_000).set("wss://2", 30_001);
    expectPlay("of those that have failed, the first to fail", "0 1 2, 1@1000, media@1150", [hidden, { opens: 500, ...answering }, { opens: 60 }], 40_000);
    return {};
  }

  /**
   * A camera whose own address answers half a second later than a place that is of no use, each in its way; the page has to become live all the same.
   * @param {string} presence the camera's own statement, and one that another has signed
   */
  async function liars(presence, forgery) {
    const Socket = globalThis.WebSocket;
    const [offers, seenBy] = [{}, {}];
    const registered = (told, more) => ({ registered: { roomid: told.roomid, clientid: told.clientid, challenge: "A".repeat(22), messages: [], present: presence, ...more } });
    // What each says to the registration, and to the offer.
    const kinds = {
      withholds: [registered], denies: [registered, () => ({ error: { code: "refused", message: "https://pay.example now" } })],
      forges: [registered, ({ to }) => ({ from: to, msg: forgery })], loses: [registered, () => ({ presence: null })], "never-opens": null,
      "says-nothing": [() => undefined], fails: [() => ({ error: { code: "internal", message: "" } })], "other-room": [(told) => registered(told, { roomid: "f".repeat(16) })],
      "no-challenge": [(told) => registered(told, { challenge: 7 })], empty: [(told) => registered(told, { present: "" })], "lies-about-it": [(told) => registered(told, { present: forgery })],
    };
    class Liar extends EventTarget {
      readyState = 0;
      constructor(kind) {
        super();
        this.kind = kind;
        if (kinds[kind]) setTimeout(() => {
          this.readyState = 1;
          this.onopen?.();
        }, 20);
      }
      send(text) {
        const told = JSON.parse(text);
        if (told.cmd === "send") offers[this.kind] = (offers[this.kind] ?? 0) + 1;
        const said = kinds[this.kind][told.cmd === "register" ? 0 : 1]?.(told);
        if (said) setTimeout(() => this.onmessage?.({ data: JSON.stringify(said) }), 5);
      }
      close() {
        this.readyState = 3;
      }
    }
    globalThis.WebSocket = function (url) {
      const { hostname } = new URL(url);
      if (hostname.endsWith(".example")) return new Liar(hostname.split(".")[0]);
      const socket = new Socket(url);
      // Its owner learns half a second later that it is open.
      Object.defineProperty(socket, "onopen", { set: (call) => socket.addEventListener("open", () => setTimeout(() => call?.(), 500)) });
      return socket;
    };
    globalThis.WebSocket.OPEN = 1;
    try {
      const left = Object.keys(kinds);
      const beside = async () => {
        const kind = left.shift();
        if (!kind) return;
        const index = await watch({ origins: [], away: { iceServers: [], meetings: [{ kind: "rendezvous", url: `wss://${kind}.example` }] } });
        await until(`live beside one that ${kind}`, () => isLive(index));
        const { watcher } = watched[index];
        check(!watcher.isMet && watcher.refusal === null, `${kind}: ${describe()}`);
        seenBy[kind] = Math.round(watcher.times.session.connected - watcher.times.session.began);
        leave(index);
        await beside();
      };
      await Promise.all([beside(), beside(), beside(), beside()]);
      const asked = Object.keys(offers).sort().join();
      check(asked === "denies,forges,loses,withholds", `offers went to ${asked}`);
      // Nobody is there: what each said is told, and its words are its own.
      const index = await watch({
        origin: "https://127.0.0.1:1", origins: [], away: { iceServers: [], meetings: ["denies", "empty", "lies-about-it", "other-room", "fails"].map((kind) => ({ kind: "rendezvous", url: `wss://${kind}.example` })) },
      });
      const refusal = await until("what they said", () => watched[index].watcher.refusal);
      const said = refusal.said.map(({ place, reason, text }) => `${place} ${reason} ${reason === "refused" ? text : ""}`.trim()).join();
      check(refusal.reason === "forged" && said === "denies.example refused https://pay.example now,empty.example absent,lies-about-it.example forged,other-room.example unusable,fails.example refused internal",
        JSON.stringify(refusal));
      leave(index);
    } finally {
      globalThis.WebSocket = Socket;
    }
    return seenBy;
  }

  /** The camera answers at one address, and its media does not come: the next one gets an offer of its own. */
  async function noPath(moved) {
    const Connection = globalThis.RTCPeerConnection;
    const made = [];
    globalThis.RTCPeerConnection = class extends Connection {
      constructor(configuration) {
        super(made.length ? configuration : { ...configuration, iceTransportPolicy: "relay" });
        made.push(this);
      }
      get isFailed() {
        return this === made[0] && this.signalingState === "stable" && this.remoteDescription !== null;
      }
      get connectionState() {
        return this.isFailed ? "failed" : super.connectionState;
      }
      async setRemoteDescription(description) {
        await super.setRemoteDescription(description);
        if (this.isFailed) setTimeout(() => this.onconnectionstatechange?.());
      }
    };
    try {
      const index = await watch({ origins: [moved] });
      await seen(index);
      const { watcher } = watched[index];
      check(watcher.movedTo === moved && watcher.refusal === null && made.length === 2, `${watcher.movedTo} ${made.length} ${JSON.stringify(watcher.refusal)}`);
      check(made[0].signalingState === "closed", "the connection before is open");
      leave(index);
    } finally {
      globalThis.RTCPeerConnection = Connection;
    }
    return {};
  }

  async function vectors({ spake, link }) {
    const { fromHex, hex, utf8, toNumber, fromBase64url } = modules.bytes;
    const { Prover, secrets, passwordInput } = modules.spake2plus;
    const names = { context: utf8(spake.context), prover: utf8("client"), verifier: utf8("server") };
    const both = { w0: toNumber(fromHex(spake.w0)), w1: toNumber(fromHex(spake.w1)) };
    const prover = () => new Prover(names, both, toNumber(fromHex(spake.x)));
    const one = prover();
    check(hex(one.share) === spake.shareP, "the prover's share");
    const outcome = await one.receive(fromHex(spake.shareV), fromHex(spake.confirmV));
    check(hex(outcome.confirmation) === spake.confirmP && hex(outcome.sharedKey) === spake.shared, "the keys");
    check((await failure(one.receive(fromHex(spake.shareV), fromHex(spake.confirmV)))) === "invalid-share", "a second answer");
    const wrong = fromHex(spake.confirmV);
    wrong[31] ^= 1;
    check((await failure(prover().receive(fromHex(spake.shareV), wrong))) === "wrong-confirmation", "another confirmation");
    const off = fromHex(spake.shareV);
    off[64] ^= 1;
    check((await failure(prover().receive(off, wrong))) === "invalid-share", "a point beside the curve");
    const bytes = fromBase64url(link.secret);
    const part = modules.bytes.part;
    const label = (text) => part(utf8(`Cradle pairing 1 ${text}`));
    const id = await modules.digest.hkdf(bytes, { info: label("link id"), count: 16 });
    check(hex(id) === link.id, "the link's id");
    const about = { context: modules.bytes.concat(label("link"), part(id)), prover: utf8("parent"), verifier: utf8("child") };
    const { w0, w1 } = secrets(await modules.digest.hkdf(passwordInput(bytes, about), { info: label("link secrets"), count: 80 }));
    check(w0 === toNumber(fromHex(link.w0)) && w1 === toNumber(fromHex(link.w1)), "the link's secrets");
    const { wordList } = modules.words;
    check(new Set(wordList).size === 256 && wordList[0] === "acorn" && wordList[255] === "zipper", "the words");
    return {};
  }

  function parsing() {
    const { parseLink, parseCode } = modules.pairing;
    const secret = "AAECAwQFBgcICQoLDA0ODw";
    for (const [text, origin] of [[`https://192.0.2.7:8443/#pair=${secret}`, "https://192.0.2.7:8443"], [`#pair=${secret}`, location.origin],
      [`  https://cot.local:8443#pair=${secret}\n`, "https://cot.local:8443"], [`https://[2001:db8::1]:8443/#pair=${secret}`, "https://[2001:db8::1]:8443"]]) {
      check(parseLink(text)?.origin === origin, `${text} is ${parseLink(text)?.origin}`);
    }
    for (const text of ["", null, "https://a/", `http://a/#pair=${secret}`, `https://a/b#pair=${secret}`, `https://u:p@a/#pair=${secret}`, `https://a/#pair=${secret}A`,
      `https://a/#pair=${secret.slice(1)}`, `https://a/?q#pair=${secret}`, `javascript:alert(1)#pair=${secret}`, `https:///#pair=${secret}`]) {
      check(parseLink(text) === null, `taken: ${text}`);
    }
    check(parseCode(" 1234-5678 ") === "12345678" && parseCode("1234 5678") === "12345678" && parseCode("1234\u20115678") === "12345678", "a code");
    for (const text of ["", "1234567", "123456789", "1234-567a", "\u0661234-5678", null]) check(parseCode(text) === null, `taken: ${text}`);
    return {};
  }

  /** Something that answers in the child's place, without its secrets. */
  async function impostors() {
    const real = globalThis.fetch;
    const encoded = modules.bytes.base64url;
    const share = encoded(modules.bytes.fromHex("04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b4907d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7"));
    const zeros = (count) => encoded(new Uint8Array(count));
    const answers = {
      "wrong-link": { step: "share", session: zeros(16), share, confirmation: zeros(32) },
      "bad-reply": { step: "share", session: zeros(16), share: zeros(65), confirmation: zeros(32) },
    };
    const found = {};
    try {
      for (const [reason, answer] of [...Object.entries(answers), ["bad-reply", 7], ["bad-reply", null], ["bad-reply", { step: "parameters" }], ["bad-reply", { step: "share" }]]) {
        globalThis.fetch = async () => new Response(JSON.stringify(answer), { status: 200 });
        found[reason] = (await pairing({ secret: new Uint8Array(16) })).reason;
        check(found[reason] === reason, `${found[reason]} instead of ${reason}`);
      }
      globalThis.fetch = async () => new Response(JSON.stringify({ step: "parameters", salt: zeros(16), iterations: 10 }));
      check((await pairing({ code: "12345678" })).reason === "bad-reply", "ten iterations");
      globalThis.fetch = async () => Promise.reject(new TypeError("no route"));
      check((await pairing({ code: "12345678" })).reason === "unreachable", "no network");
    } finally {
      globalThis.fetch = real;
    }
    return {};
  }

  async function lost(index, kind) {
    const { watcher, monitor } = watched[index];
    await until(`the alarm ${kind}`, () => monitor.alarm?.kind === kind && watcher.phase !== "live");
    return { planned: watcher.plannedStop !== null, level: monitor.alarm.level, acknowledged: monitor.alarm.acknowledged };
  }

  async function back(index) {
    const result = await seen(index);
    const { watcher, monitor, sound } = watched[index];
    await until("no alarm", () => monitor.alarm === null);
    await until("sound again", () => sound.verdict.hearing);
    check(watcher.plannedStop === null, "the planned stop is still told");
    return result;
  }

  async function forged(index) {
    const { watcher } = watched[index];
    await until("refused as forged", () => watcher.refusal?.reason === "forged");
    check(watcher.phase !== "live" && watcher.pictureAt === 0 && watcher.soundAt === 0, "something came");
    return { text: watcher.refusal.text };
  }

  async function audioOnly(index) {
    const { watcher } = watched[index];
    watcher.audioOnly = true;
    await until("no picture", () => watcher.picture.getTracks().length === 0 && isLive(index));
    const now = Date.now();
    await until("sound", () => watcher.soundAt > now);
    watcher.audioOnly = false;
    await until("pictures again", () => watcher.picture.getTracks().length === 1 && watcher.pictureAt > now && isLive(index));
    return {};
  }

  async function refused(index) {
    const { watcher, monitor } = watched[index];
    await until("refused", () => watcher.phase === "refused");
    await until("the alarm", () => monitor.alarm?.kind === "revoked");
    return { reason: watcher.refusal.reason };
  }

  /** How loud each of two rooms is played, in fake time. */
  function mixing() {
    const mix = new modules.mix.Mix();
    let now = 0;
    const expectShares = (what, levels, expected, times = 8) => {
      let shares;
      for (let time = 0; time < times; time += 1, now += 200) {
        for (const [id, level] of Object.entries(levels)) mix.note(id, level, now);
        shares = mix.shares(now);
      }
      const shown = Object.fromEntries([...shares].map(([id, share]) => [id, Math.round(share * 10) / 10]));
      check(JSON.stringify(shown) === JSON.stringify(expected), `${what}: ${JSON.stringify(shown)}`);
    };
    expectShares("all quiet", { one: -60, two: -55 }, { one: 1, two: 1 });
    expectShares("one loud, at once", { one: -20, two: -60 }, { one: 1, two: 0.8 }, 1);
    expectShares("one loud", { one: -20, two: -60 }, { one: 1, two: 0.2 });
    expectShares("two a little louder", { one: -20, two: -15 }, { one: 1, two: 0.2 });
    expectShares("two much louder: heard in full at once", { one: -30, two: -5 }, { one: 0.8, two: 1 }, 1);
    expectShares("two much louder", { one: -30, two: -5 }, { one: 0.2, two: 1 });
    expectShares("the louder one is gone", { one: -30 }, { one: 1, two: 0.2 }, 20);
    expectShares("quiet again", { one: -70, two: -70 }, { one: 1, two: 1 }, 40);
    mix.remove("two");
    expectShares("one alone", { one: -10 }, { one: 1 });
    return {};
  }

  /** How long sound waits, in fake time; and that a connection is told where the browser has the means. */
  function waiting(index) {
    const { SoundBuffer, canWait } = modules.buffer;
    const buffer = new SoundBuffer();
    const expectTarget = (now, target, what) => check(buffer.target(now) === target, `${what}: ${buffer.target(now)}`);
    expectTarget(0, null, "at first");
    for (const none of [null, undefined, 0, 2]) buffer.note(none, 1000);
    expectTarget(1000, null, "up to 2 % lost");
    buffer.note(2.1, 2000);
    expectTarget(2000, 120, "more than 2 % lost");
    buffer.note(0, 11_000);
    expectTarget(11_999, 120, "calm for less than 10 s");
    expectTarget(12_000, null, "calm for 10 s");
    buffer.isSteady = true;
    buffer.note(20, 13_000);
    expectTarget(13_000, 400, "steady sound");
    buffer.isSteady = false;
    expectTarget(13_000, 120, "no longer steady, but lossy");

    const connection = new RTCPeerConnection();
    const [audio, video] = ["audio", "video"].map((kind) => connection.addTransceiver(kind).receiver);
    const told = () => [audio, video].map((receiver) => receiver.jitterBufferTarget ?? null);
    const expected = (target) => JSON.stringify([canWait() ? target : null, null]);
    for (const [now, target] of [[13_000, 120], [24_000, null]]) {
      buffer.apply(connection, now);
      check(JSON.stringify(told()) === expected(target), `${now}: ${told()}`);
    }
    buffer.apply(undefined, 0);
    connection.close();

    // The watcher's own connection follows at once.
    const set = [];
    const own = Object.getOwnPropertyDescriptor(RTCRtpReceiver.prototype, "jitterBufferTarget");
    if (!own) return { canWait: false };
    Object.defineProperty(RTCRtpReceiver.prototype, "jitterBufferTarget", { ...own, set(value) {
      set.push(value);
      own.set.call(this, value);
    } });
    const { watcher } = watched[index];
    watcher.steadySound = true;
    watcher.steadySound = false;
    Object.defineProperty(RTCRtpReceiver.prototype, "jitterBufferTarget", own);
    check(JSON.stringify(set) === "[400,null]", `the watcher: ${JSON.stringify(set)}`);
    return { canWait: true };
  }

  /** How old the picture is: of made-up reports, and of this browser's own. */
  async function delay(index) {
    const { Age } = modules.statistics;
    const age = new Age();
    // The child's clock is 5000 ms behind. A report takes 30 ms, later ones 10 and 200; the round trip is 20 ms at least.
    const [child, here] = [1_800_000_000_000, 1_800_000_005_000];
    const told = { rtpTimestamp: 2 ** 32 - 90_000, captureTimestamp: child };
    // The picture that was captured so many ms later.
    const note = (shownAt, captured, timestamp, remoteTimestamp, trip, said = told) =>
      age.note({ timestamp, remoteTimestamp }, { timestamp: shownAt, rtpTimestamp: (told.rtpTimestamp + captured * 90) % 2 ** 32 }, said, trip);
    check(note(here, 0, undefined, undefined, null) === null && note(here, 0, undefined, undefined, 20) === null, "nothing known");
    check(note(here + 1000, 900, here + 30, child, 60) === 100, "a report of 30 ms, a round trip of 60");
    check(note(here + 2000, 1900, here + 1010, child + 1000, 20) === 100, "the fastest report, the least round trip, timestamps that wrap");
    check(note(here + 3000, 2500, here + 2200, child + 2000, 400) === 500, "a queue");
    for (const said of [{}, { rtpTimestamp: "1", captureTimestamp: "x" }, { rtpTimestamp: 1, captureTimestamp: -1e300 }]) {
      check(note(here + 3000, 2500, here + 2200, child + 2000, 400, said) === null, `nonsense: ${JSON.stringify(said)}`);
    }
    const later = { ...told, captureTimestamp: child + 60_000 };
    check(note(here + 4000, 2500, here + 3010, child + 3000 + 60_000, 20, later) === 1500, "a child whose clock was set");

    const { watcher } = watched[index];
    await until("the delay of the picture", () => watcher.statistics?.latencyMs > 0);
    const { connection, report } = await picturesReport(index);
    const source = connection.getReceivers().find(({ track }) => track.kind === "video").getSynchronizationSources()[0];
    const measured = new Age().note(report, source, watcher.control.heartbeat.video, 0);
    check(measured !== null && measured < 500, `${measured} ms on one machine: ${JSON.stringify([report, source, watcher.control.heartbeat.video])}`);
    return { latencyMs: watcher.statistics.latencyMs, measured };
  }

  /** The sender report of the picture, as the page reads it, once there is one. */
  async function picturesReport(index) {
    const own = RTCPeerConnection.prototype.getStats;
    let [connection, report] = [];
    RTCPeerConnection.prototype.getStats = async function (...rest) {
      const all = await own.apply(this, rest);
      [connection, report] = [this, [...all.values()].find(({ type, kind }) => type === "remote-outbound-rtp" && kind === "video")];
      return all;
    };
    try {
      await until("a sender report", () => isLive(index) && report?.remoteTimestamp > 0);
      return { connection, report };
    } finally {
      RTCPeerConnection.prototype.getStats = own;
    }
  }

  async function viewers(index, count) {
    await until(`${count} viewers`, () => watched[index].watcher.control.state?.viewers?.length === count);
    return {};
  }

  const calls = {
    load, pairByLink, pairByCode, watch, leave, seen, pictureChanges, soundArrives, orders, nonsense, keys, away, race, truths, mixing, liars, noPath, vectors, parsing, impostors, lost,
    back, forged, audioOnly, refused, viewers, waiting, delay,
    firstPicture: (index) => until("the first picture", () => watched[index].firstPictureMs),
    state: (index) => ({ events: watched[index].events, movedTo: watched[index].watcher.movedTo, name: watched[index].watcher.child.name, soundAt: watched[index].watcher.soundAt, now: Date.now() }),
    soundSince: (index, time) => until("sound", () => watched[index].watcher.soundAt > time && isLive(index) && Date.now()),
    acknowledge: (index) => watched[index].monitor.acknowledge(),
    alarms: async (cases, source) => {
      const run = new Function(`${source.replace("export function", "function")}; return runAlarmCases;`)();
      return { problems: run(cases, modules.alarm.Alarm) };
    },
  };
  // Errors become values, with their place.
  return async (name, ...parameters) => {
    try {
      return JSON.stringify({ value: (await calls[name](...parameters)) ?? null });
    } catch (error) {
      return JSON.stringify({ problem: `${error.message} ${error.stack?.split("\n")[1] ?? ""}` });
    }
  };
})();
