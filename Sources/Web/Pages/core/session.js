import { PairedSignaling, SessionEnd } from "./paired.js";
import { WHEPSignaling } from "./whep.js";

/** How long ICE and DTLS may take after the answer, ms. */
const connectionPatience = 8000;

/** The label and subprotocol of the data channel. INTERFACES.md, "Data channel". */
const channelLabel = "control";
const channelProtocol = "cradle.control.v1";

const loopback = /^(localhost|127\.[0-9.]+|\[::1\])$/;

/**
 * The offer of a page that was loaded over loopback names a loopback candidate, by which the child knows that its own
 * loopback addresses are of use. Port 9 discards.
 */
function withLoopback(sdp, origin) {
  const host = new URL(origin).hostname;
  if (!loopback.test(host)) return sdp;
  return `${sdp}a=candidate:1 1 udp 1 ${host === "[::1]" ? "::1" : "127.0.0.1"} 9 typ host\r\n`;
}

/**
 * One media session with a child, from the offer to its end. No ICE servers: both are in the same network.
 * W3C WebRTC 1.0.
 */
export class Session {
  #signaling;
  #child;
  #isOver = false;
  #timer;
  #talks = null;
  // The child's candidates that overtook its answer.
  #early = [];
  #isAnswered = false;
  /** @type {RTCPeerConnection} */
  connection;
  /** @type {RTCDataChannel} */
  channel;
  audioOnly;
  /** Times of performance.now(): `began`, `answered`, `connected`; 0: not yet. */
  times = { began: 0, answered: 0, connected: 0 };
  /** (MediaStreamTrack) when the child's answer brings a track. */
  ontrack = () => {};
  /** () when the data channel is open. */
  onchannel = () => {};
  /** () when media can flow. Again after each interruption. */
  onconnected = () => {};
  /** () when ICE has lost the child; it may find it again. */
  onweak = () => {};
  /**
   * (SessionEnd) once. `reason`: the child's signed "left", "not-paired", "expired", "busy", "not-acceptable",
   * "going-away"; "unreachable", "forged" (what answered was not the paired child), "token" (refused), "link" (lost).
   */
  onover = () => {};

  /**
   * @param {Child} child
   * @param {{identity: Identity, audioOnly: boolean, wantsTalk: boolean, microphone: MediaStreamTrack|null}} options
   */
  constructor(child, { identity, audioOnly, wantsTalk, microphone }) {
    this.#child = child;
    this.audioOnly = audioOnly;
    this.#signaling = child.token ? new WHEPSignaling(child) : new PairedSignaling(child, identity);
    const connection = (this.connection = new RTCPeerConnection({ iceServers: [], bundlePolicy: "max-bundle" }));
    if (!audioOnly) connection.addTransceiver("video", { direction: "recvonly" });
    const audio = connection.addTransceiver("audio", { direction: wantsTalk ? "sendrecv" : "recvonly" });
    this.#talks = wantsTalk ? audio.sender : null;
    if (wantsTalk && microphone) this.setMicrophone(microphone);
    this.channel = connection.createDataChannel(channelLabel, { protocol: channelProtocol });
    this.channel.binaryType = "arraybuffer";
    this.channel.onopen = () => this.onchannel();
    connection.ontrack = ({ track }) => this.ontrack(track);
    connection.onicecandidate = ({ candidate }) => {
      // An empty candidate ends one generation, null ends gathering.
      if (candidate?.candidate !== "") this.#signaling.addCandidate(candidate);
    };
    connection.onconnectionstatechange = () => this.#stateChanged();
    this.#signaling.oncandidate = (candidate) => this.#addCandidate(candidate);
    this.#signaling.onend = (end) => this.#over(end);
  }

  /** Whether `setMicrophone` has an effect. */
  get canTalk() {
    return this.#talks !== null;
  }

  /** Sends this track's sound to the child; null: none. */
  setMicrophone(track) {
    this.#talks?.replaceTrack(track).catch(() => {});
  }

  /** Begins, once. */
  async start() {
    this.times.began = performance.now();
    const connection = this.connection;
    const offer = (async () => {
      await connection.setLocalDescription();
      return withLoopback(connection.localDescription.sdp, this.#child.origin);
    })();
    try {
      const sdp = await this.#signaling.start(offer);
      if (this.#isOver) return;
      this.times.answered = performance.now();
      await connection.setRemoteDescription({ type: "answer", sdp });
      if (this.#isOver) return;
      this.#isAnswered = true;
      for (const candidate of this.#early.splice(0)) this.#add(candidate);
      this.#timer = setTimeout(() => {
        if (!this.times.connected) this.#over(new SessionEnd("link", "no connection in time"));
      }, connectionPatience);
    } catch (error) {
      this.#over(error instanceof SessionEnd ? error : new SessionEnd("link", String(error?.message ?? error)));
    }
  }

  #addCandidate(candidate) {
    if (this.#isAnswered) this.#add(candidate);
    else if (this.#early.length < 64) this.#early.push(candidate);
  }

  #add(candidate) {
    // A candidate that this browser does not understand is one path less.
    this.connection.addIceCandidate(candidate ?? undefined).catch(() => {});
  }

  #stateChanged() {
    switch (this.connection.connectionState) {
      case "connected":
        this.times.connected ||= performance.now();
        this.onconnected();
        break;
      case "disconnected":
        this.onweak();
        break;
      case "failed":
      case "closed":
        this.#over(new SessionEnd("link"));
    }
  }

  /** Ends the session; the child is told. `onover` is not called. */
  close() {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signaling.leave();
    this.connection.onconnectionstatechange = this.channel.onopen = this.connection.ontrack = null;
    this.connection.close();
  }

  #over(end) {
    if (this.#isOver) return;
    this.close();
    this.onover(end);
  }
}
