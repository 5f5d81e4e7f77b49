import AllocationCounter
import Frames
import Identity
import NIOCore
import NIOPosix
import PeerConnection
import SDP
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Server

/// What sending a picture asks of the allocator: from its payloads to the socket, for each packet of each viewer.
@Suite struct SendAllocationTests {
  /// Real keys, but packets pass as they are: what libsrtp's own cryptography allocates depends on how it was built.
  private final class OpenSRTP: SRTPPort {
    private static let tag = [UInt8](repeating: 0, count: 16)

    func protectRTP(_ packet: inout [UInt8]) { packet.append(contentsOf: Self.tag) }
    func protectRTCP(_ packet: inout [UInt8]) { packet.append(contentsOf: Self.tag) }
    func unprotectRTP(_ packet: inout [UInt8]) { packet.removeLast(16) }
    func unprotectRTCP(_ packet: inout [UInt8]) { packet.removeLast(16) }
  }

  private struct Transports: SecureTransports {
    let real: OpenSSLTransports

    var certificateSHA256: [UInt8] { real.certificateSHA256 }
    func makeDTLS() throws -> any DTLSPort { try real.makeDTLS() }
    func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort { OpenSRTP() }
  }

  private static func hub(limit: Int, on loop: any EventLoop) async throws -> PeerHub {
    let identity = NodeIdentity.generate()
    let transports = Transports(
      real: try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key)))
    let hub = PeerHub(eventLoop: loop, limit: limit, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(), random: SystemRandomNumberGenerator(),
        wallClock: MonotonicClock.wallClockReference)
    }
    try await hub.bind(ports: 0...0)
    return hub
  }

  private static func media(_ direction: MediaDirection) -> LocalMedia {
    LocalMedia(
      kind: .video, direction: direction, codecs: [.vp8, .rtx],
      headerExtensions: [
        RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
      ], ssrc: .random(in: 1...UInt32.max), rtxSSRC: .random(in: 1...UInt32.max), cname: "a", streamID: "a",
      trackID: "a")
  }

  private static let packetsOfAPicture = 8

  @Test(.timeLimit(.minutes(1))) func aPacketCostsItsOwnBytesAndLittleMore() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let (sending, receiving) = (group.next(), group.next())
    let child = try await Self.hub(limit: 4, on: sending)
    var viewers: [PeerHub] = []
    for _ in 0..<4 {
      let viewer = try await Self.hub(limit: 1, on: receiving)
      viewers.append(viewer)
      let (peer, offer) = try await receiving.submit {
        try viewer.offer(
          configuration: PeerConnectionConfiguration(media: [Self.media(.receiveOnly)]), wantsDataChannel: false,
          includingLoopback: true)
      }.get()
      let answer = try await sending.submit {
        try child.connect(
          offer: offer, configuration: PeerConnectionConfiguration(media: [Self.media(.sendOnly)]),
          includingLoopback: true
        ).1
      }.get()
      try await receiving.submit { try viewer.with(peer) { try $0.accept(answer, now: $1) } }.get()
    }
    let payloads = (0..<Self.packetsOfAPicture).map { _ in [UInt8](repeating: 7, count: 1100) }
    var isConnected = false
    while !isConnected {
      try await Task.sleep(for: .milliseconds(10))
      isConnected = try await sending.submit { child.areAllSending(.video) }.get()
    }
    // The first pictures fill the caches for retransmission; later ones reuse what those hold.
    var (all, large): ([Double], [Double]) = ([], [])
    for number in 0..<200 {
      try await Task.sleep(for: .milliseconds(5))
      let isKeyFrame = number == 0
      let counts = try await sending.submit {
        let before = (allocation_counter_of_this_thread(), allocation_counter_large_of_this_thread())
        child.send(
          payloads, kind: .video, mediaTime: UInt32(number * 3000), captureTime: MonotonicClock.now,
          isKeyFrame: isKeyFrame)
        return (
          allocation_counter_of_this_thread() - before.0, allocation_counter_large_of_this_thread() - before.1
        )
      }.get()
      guard number >= 100 else { continue }
      all.append(Double(counts.0) / Double(4 * Self.packetsOfAPicture))
      large.append(Double(counts.1) / Double(4 * Self.packetsOfAPicture))
    }
    for hub in viewers + [child] { await hub.shutDown() }
    try await group.shutdownGracefully()
    // One for the packet, and one for all packets to a viewer, which the kernel takes together.
    let median = (all: all.sorted()[all.count / 2], large: large.sorted()[large.count / 2])
    #expect(median.large <= 1.3, "of a packet's size, for each packet: \(median)")
    // Without optimization the standard library's iterators allocate, too.
    #expect(median.all <= 6.5, "for each packet: \(median)")
  }
}

extension PeerHub {
  fileprivate func areAllSending(_ kind: MediaKind) -> Bool {
    (1...4).allSatisfy { number in connection(PeerID(number: UInt64(number)))?.isSending(kind) ?? false }
  }
}
