import Frames
import Identity
import NIOCore
import NIOPosix
import PeerConnection
import SDP
import SecureTransport
import Server
import Synchronization
import TURN
import TestSupport
import Testing
import Wire

/// Candidates that servers give, for the peers of a hub.
@Suite(.timeLimit(.minutes(1))) struct GatheringTests {
  private static let media = [
    LocalMedia(
      kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [], ssrc: 1, rtxSSRC: 2,
      cname: "a", streamID: "a", trackID: "a")
  ]

  @Test func theNextPeerIsToldOfAnAllocationThatIsThereAlready() async throws {
    let lab = try await RelayLab()
    let url = try #require(ICEServerURL("turn:127.0.0.1:\(lab.port)?transport=udp"))
    let servers = [ICEServer(urls: [url], username: "alice", credential: "secret")]
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let hub = PeerHub(eventLoop: loop, limit: 2, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: TestHashes(),
        random: SystemRandomNumberGenerator(), wallClock: MonotonicClock.wallClockReference)
    }
    try await hub.bind(ports: 0...0)
    let (events, continuation) = AsyncStream.makeStream(of: (PeerID, PeerConnectionEvent).self)
    let known = Mutex<Set<PeerID>>([])
    // Whoever made the peer cannot know whose events come before that has returned.
    hub.onEvent = { (id: PeerID, event: PeerConnectionEvent) in
      if known.withLock({ $0.contains(id) }) { continuation.yield((id, event)) }
    }
    let offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    var iterator = events.makeAsyncIterator()
    for _ in 1...2 {
      let id = try await loop.submit {
        let (id, _) = try hub.connect(
          offer: offer, configuration: PeerConnectionConfiguration(media: Self.media), includingLoopback: true,
          servers: servers)
        known.withLock { _ = $0.insert(id) }
        return id
      }.get()
      var isTold = false
      while !isTold, let (peer, event) = await iterator.next() {
        guard peer == id else { continue }
        if case .localCandidatesComplete = event { break }
        if case .localCandidate(let candidate) = event, candidate.contains("typ relay") { isTold = true }
      }
      #expect(isTold)
    }
    await hub.shutDown()
  }
}
