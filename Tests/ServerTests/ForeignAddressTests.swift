import Glibc
import Identity
import NIOCore
import NIOPosix
import PeerConnection
import SDP
import STUN
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Server

/// Whose an address is when requests for two peers come from it, over a real socket.
@Suite struct ForeignAddressTests {
  private static let media = [
    LocalMedia(
      kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [], ssrc: 1, rtxSSRC: 2,
      cname: "a", streamID: "a", trackID: "a")
  ]

  /// One end of ICE for each peer of the hub, all behind one socket.
  private final class Browser {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    private let child: SocketAddress
    private let password: String
    let address: TransportAddress

    init(to port: UInt16, password: String) throws {
      child = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
      self.password = password
      let descriptor = self.descriptor
      var time = timeval(tv_sec: 5, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      let bound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr { address, size in
        bind(descriptor, address, socklen_t(size))
      }
      // Family, port in network order, address.
      var name = [UInt8](repeating: 0, count: 16)
      var size = socklen_t(name.count)
      let found = name.withUnsafeMutableBytes {
        getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
      }
      try #require(bound == 0 && found == 0)
      address = TransportAddress(ip: .v4(0x7f00_0001), port: UInt16(name[2]) << 8 | UInt16(name[3]))
    }

    deinit { close(descriptor) }

    private func send(_ bytes: [UInt8]) {
      let sent = child.withSockAddr { address, size in
        sendto(descriptor, bytes, bytes.count, 0, address, socklen_t(size))
      }
      #expect(sent == bytes.count)
    }

    /// Sends a check to one of the hub's peers and returns the one that comes back.
    func check(_ peer: (fragment: String, password: String), from fragment: String) throws -> STUNMessage {
      var random = SystemRandomNumberGenerator()
      let request = STUNMessage(
        .request, transactionID: .random(using: &random),
        attributes: [
          .username("\(peer.fragment):\(fragment)"), .priority(1_845_501_695), .iceControlling(1), .useCandidate,
        ])
      send(request.encode(key: Array(peer.password.utf8), hashes: TestHashes()))
      var isAnswered = false
      for _ in 0..<50 {
        var buffer = [UInt8](repeating: 0, count: 2048)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        try #require(count > 0, "no check came back")
        guard let message = try? STUNMessage(decoding: Array(buffer.prefix(count))) else { continue }
        if message.transactionID == request.transactionID { isAnswered = message.messageClass == .successResponse }
        if isAnswered, message.messageClass == .request, message.username == "\(fragment):\(peer.fragment)" {
          return message
        }
      }
      throw POSIXError()
    }

    func answer(_ request: STUNMessage) {
      send(
        STUNMessage(
          .successResponse, transactionID: request.transactionID,
          attributes: [.xorMappedAddress(TransportAddress(ip: .v4(0x7f00_0001), port: 9))]
        ).encode(key: Array(password.utf8), hashes: TestHashes()))
    }

    struct POSIXError: Error {}
  }

  /// A request can be repeated from a forged address. The address of a peer that is watching goes to another only when
  /// that one has answered a check there.
  @Test func aRequestAloneTakesNoAddressFromAnotherPeer() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let hub = PeerHub(eventLoop: loop, limit: 2, now: { Instant.zero + .seconds(1) }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: TestHashes(),
        random: SystemRandomNumberGenerator(), wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0))
    }
    try await hub.bind(ports: 0...0)
    let offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    let fragment = try #require(offer.media.first?.iceUfrag)
    let password = try #require(offer.media.first?.icePwd)
    typealias Known = (id: PeerID, fragment: String, password: String)
    let peers: [Known] = try await loop.submit {
      try (0..<2).map { _ in
        let (id, answer) = try hub.connect(
          offer: offer, configuration: PeerConnectionConfiguration(media: Self.media), includingLoopback: true)
        let media = try #require(answer.media.first)
        return (id, try #require(media.iceUfrag), try #require(media.icePwd))
      }
    }.get()
    let port = try await loop.submit { hub.port }.get()
    try await NIOThreadPool.singleton.runIfActive {
      let browser = try Browser(to: port, password: password)
      let address = browser.address
      func owner(becomes peer: PeerID) throws -> Bool {
        for _ in 0..<500 {
          if try loop.submit({
            hub.addresses.owner(of: address) == peer && hub.connection(peer)?.hasValidPair(with: address) == true
          }).wait() {
            return true
          }
          usleep(10_000)
        }
        return false
      }
      browser.answer(try browser.check((peers[0].fragment, peers[0].password), from: fragment))
      #expect(try owner(becomes: peers[0].id))
      let proof = try browser.check((peers[1].fragment, peers[1].password), from: fragment)
      #expect(try loop.submit { hub.addresses.owner(of: address) }.wait() == peers[0].id)
      browser.answer(proof)
      #expect(try owner(becomes: peers[1].id))
    }
    await hub.shutDown()
  }
}
