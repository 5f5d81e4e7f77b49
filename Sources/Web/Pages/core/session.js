import { readServers } from "./away.js";
import { SessionEnd } from "./connector.js";
import { PairedSignaling } from "./paired.js";
import { fragment, restarted } from "./restart.js";
import { WHEPSignaling } from "./whep.js";

/** How long ICE and DTLS may take after the answer, ms: at home, and where STUN and TURN servers are asked. */
const connectionPatience = 8000;
const farPatience = 20_000;
/** Servers that came after the offer are asked where no path was found within this time, ms. */
const restartDelay = 500;

/** The label and subprotocol of the data channel. interfaces/wire.md, "Data channel". */
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
 * One media session with a child, from the offer to its end. ICE servers are asked where the child is met elsewhere, or says
 * so itself: at home none is. W3C WebRTC 1.0.
 */
export class Session {
  #signaling;
  #child;
  #isOver = false;
  #timer;
  #wantsTalk;
  #isSmall;
  #talks = null;
  #microphone;
  #servers = [];
  // The first offer, until it is used.
  #prepared = null;
  // The promise of media, while it is waited for.
  #media = { resolve: () => {}, reject: () => {} };
  // The child's answer; what overtook the description of its ICE session, and which of these we have.
  #answer = null;
  #early = [];
  #revision = -1;
  #isRestartDue = false;
  /** @type {RTCPeerConnection} */
  connection;
  /** @type {RTCDataChannel} */
  channel;
  audioOnly;
  /** The child was met at a meeting place. */
  isMet = false;
  /** The origin at which the child was reached, where it is not the one that it was paired at; else null. */
  get movedTo() {
    return this.#signaling.movedTo ?? null;
  }

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
   * (SessionEnd) once. Where no room is left, `said` has what each meeting place said. `reason`: the child's signed "left", "not-paired", "expired", "busy", "not-acceptable",
   * "going-away"; "unreachable", "socket" (it answers, but this browser opens no WebSocket to it), "absent" (neither at its address nor at a meeting place), "no-path" and "no-relay" (no way
   * between two networks: no relay is known, or none helped), "forged" (what answered was not the paired child), "token"
   * (refused), "link" (lost).
   */
  onover = () => {};

  /**
   * @param {Child} child
   * @param {{identity: Identity, audioOnly: boolean, isSmall: boolean, wantsTalk: boolean, microphone: MediaStreamTrack|null}} options
   */
  constructor(child, { identity, audioOnly, isSmall, wantsTalk, microphone }) {
    this.#child = child;
    this.audioOnly = audioOnly;
    this.#isSmall = isSmall;
    this.#wantsTalk = wantsTalk;
    this.#microphone = microphone;
    this.#signaling = child.token ? new WHEPSignaling(child) : new PairedSignaling(child, identity);
    this.#signaling.oncandidate = (candidate, revision) => this.#addCandidate(candidate, revision);
    this.#signaling.onservers = (servers) => this.#lend(readServers(servers));
    this.#signaling.onlate = () => this.#media.reject(this.#lost("no connection in time"));
    this.#signaling.onend = (end) => this.#over(end);
    this.#connect();
  }

  /** Makes the connection; none has been announced before, or it has ended. */
  #connect() {
    this.connection?.close();
    clearTimeout(this.#timer);
    [this.#timer, this.#answer, this.#early, this.#revision, this.#isRestartDue] = [null, null, [], -1, false];
    const connection = (this.connection = new RTCPeerConnection(this.#configuration));
    if (!this.audioOnly) connection.addTransceiver("video", { direction: "recvonly" });
    const audio = connection.addTransceiver("audio", { direction: this.#wantsTalk ? "sendrecv" : "recvonly" });
    this.#talks = this.#wantsTalk ? audio.sender : null;
    if (this.#microphone) this.setMicrophone(this.#microphone);
    this.channel = connection.createDataChannel(channelLabel, { protocol: channelProtocol });
    this.channel.binaryType = "arraybuffer";
    this.channel.onopen = () => this.onchannel();
    connection.ontrack = ({ track }) => this.ontrack(track);
    connection.onicecandidate = ({ candidate }) => {
      // An empty candidate ends one generation, null ends gathering.
      if (connection === this.connection && candidate?.candidate !== "") this.#signaling.addCandidate(candidate);
    };
    connection.onconnectionstatechange = () => connection === this.connection && this.#stateChanged();
  }

  get #configuration() {
    return { iceServers: this.#servers, bundlePolicy: "max-bundle" };
  }

  /** Whether `setMicrophone` has an effect. */
  get canTalk() {
    return this.#talks !== null;
  }

  /** Sends this track's sound to the child; null: none. */
  setMicrophone(track) {
    this.#microphone = track;
    this.#talks?.replaceTrack(track).catch(() => {});
  }

  /** Begins, once. */
  async start() {
    this.times.began = performance.now();
    // At home it is ready before the room is.
    this.#prepared = this.#offer();
    this.#prepared.catch(() => {});
    try {
      await this.#signaling.start((isMet) => this.#nextOffer(isMet), (sdp) => this.#answered(sdp));
    } catch (error) {
      this.#over(error instanceof SessionEnd ? error : new SessionEnd("link", String(error?.message ?? error)));
    }
  }

  /** Applies the child's answer; done when media can flow. Throws SessionEnd when it cannot. */
  async #answered(sdp) {
    const { connection } = this;
    this.times.answered = performance.now();
    this.#answer = sdp;
    const media = new Promise((resolve, reject) => (this.#media = { resolve, reject }));
    media.catch(() => {});
    await this.#accept(sdp, 0);
    if (this.#isOver || connection !== this.connection) return media;
    // It waits for its own servers' candidates: by our address we are elsewhere.
    if (!this.isMet && !/^a=end-of-candidates/m.test(sdp)) this.#lend(this.#child.away?.iceServers ?? []);
    this.#wait();
    if (this.#isRestartDue) setTimeout(() => this.#restart(connection), restartDelay);
    return media;
  }

  async #offer() {
    const { connection } = this;
    await connection.setLocalDescription();
    const { sdp } = connection.localDescription;
    // kbit/s, RFC 8866 section 5.8: of a usual camera only the smallest rendition takes less.
    return withLoopback(this.#isSmall ? sdp.replace(/^m=video.*\s+c=.*\s+/m, "$&b=AS:110\r\n") : sdp, this.#child.origin);
  }

  /** Of a connection that nobody has been offered, and that asks the child's servers, if it has any and is met elsewhere. */
  #nextOffer(isMet) {
    const servers = isMet ? this.#child.away.iceServers : [];
    const prepared = this.#prepared;
    [this.isMet, this.#prepared] = [isMet, null];
    if (prepared && servers.length === 0) return prepared;
    this.#servers = servers;
    this.#signaling.forgetCandidates();
    this.#connect();
    return this.#offer();
  }

  /** The child's description of an ICE session. */
  async #accept(sdp, revision) {
    const { connection } = this;
    await connection.setRemoteDescription({ type: "answer", sdp });
    if (connection !== this.connection) return;
    this.#revision = revision;
    for (const [candidate, number] of this.#early.splice(0)) this.#addCandidate(candidate, number);
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.times.connected) this.#media.reject(this.#lost("no connection in time"));
    }, this.#isFar ? farPatience : connectionPatience);
  }

  get #isFar() {
    return this.isMet || this.#servers.length > 0;
  }

  #lost(text = "") {
    if (this.times.connected || !this.#isFar) return new SessionEnd("link", text);
    const hasRelay = this.#servers.some(({ urls }) => urls.some((url) => /^turns?:/.test(url)));
    return new SessionEnd(hasRelay ? "no-relay" : "no-path", text);
  }

  /** More servers. They are asked with an ICE restart (JSEP, RFC 9429 section 4.1.18), unless a path is found without them. */
  #lend(servers) {
    const known = new Set(this.#servers.flatMap(({ urls }) => urls));
    const more = servers.filter(({ urls }) => urls.some((url) => !known.has(url)));
    if (this.#isOver || this.times.connected || this.#isRestartDue || more.length === 0) return;
    this.#servers = [...this.#servers, ...more];
    this.#isRestartDue = true;
    // After the answer `#answered` goes on.
    const { connection } = this;
    if (this.#timer) setTimeout(() => this.#restart(connection), restartDelay);
  }

  async #restart(connection) {
    const isStale = () => this.#isOver || connection !== this.connection;
    if (isStale() || this.times.connected) return;
    try {
      connection.setConfiguration(this.#configuration);
      const offer = await connection.createOffer({ iceRestart: true });
      if (isStale()) return;
      this.#signaling.beginRestart();
      await connection.setLocalDescription(offer);
      if (isStale()) return;
      const { sdpfrag, revision } = await this.#signaling.restart(fragment(connection.localDescription.sdp));
      if (isStale()) return;
      this.#wait();
      await this.#accept(restarted(this.#answer, sdpfrag), revision);
    } catch {
      // The path is looked for without them.
    }
  }

  #addCandidate(candidate, revision) {
    if (revision === this.#revision) this.#add(candidate);
    else if (revision > this.#revision && this.#early.length < 64) this.#early.push([candidate, revision]);
  }

  #add(candidate) {
    // A candidate that this browser does not understand is one path less.
    this.connection.addIceCandidate(candidate ?? undefined).catch(() => {});
  }

  #stateChanged() {
    switch (this.connection.connectionState) {
      case "connected":
        this.times.connected ||= performance.now();
        this.#media.resolve();
        this.onconnected();
        break;
      case "disconnected":
        this.onweak();
        break;
      case "failed":
      case "closed":
        if (this.times.connected) this.#over(this.#lost());
        else this.#media.reject(this.#lost());
    }
  }

  /** Ends the session; the child is notified. `onover` is not called. */
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
