import Glibc
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

/// Datagrams of who is nobody's peer, over a real socket.
@Suite struct StrangersDatagramsTests {
  private static let media = [
    LocalMedia(
      kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [], ssrc: 1, rtxSSRC: 2,
      cname: "a", streamID: "a", trackID: "a")
  ]

  /// A UDP socket of somebody else's on this machine.
  private final class Stranger {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    private let child: SocketAddress

    init(to port: UInt16) throws {
      child = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
      var time = timeval(tv_sec: 5, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) -> Int {
      child.withSockAddr { address, size in
        sendto(descriptor, bytes, bytes.count, 0, address, socklen_t(size))
      }
    }

    func receive() -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: 2048)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      return Array(buffer.prefix(max(0, count)))
    }
  }

  /// A binding request to `fragment` whose integrity is made up. RFC 8489 section 5.
  private static func forgedCheck(_ fragment: String) -> [UInt8] {
    let name = Array("\(fragment):stranger".utf8)
    let username: [UInt8] =
      [0, 6, 0, UInt8(name.count)] + name + [UInt8](repeating: 0, count: (4 - name.count % 4) % 4)
    let attributes = username + [0, 0x24, 0, 4, 0, 0, 0, 1] + [0, 8, 0, 20] + [UInt8](repeating: 7, count: 20)
    return [0, 1, 0, UInt8(attributes.count), 0x21, 0x12, 0xa4, 0x42] + [UInt8](1...12) + attributes
  }

  /// Who has overheard a user fragment does not get its address taken for the peer's, and no longer answer than it asked.
  @Test func aForgedCheckBindsNoAddress() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let hub = PeerHub(eventLoop: loop, limit: 1, now: { Instant.zero + .seconds(1) }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(),
        random: SystemRandomNumberGenerator(), wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0))
    }
    try await hub.bind(ports: 0...0)
    let offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    let (port, fragment) = try await loop.submit {
      let (_, answer) = try hub.connect(
        offer: offer, configuration: PeerConnectionConfiguration(media: Self.media), includingLoopback: true)
      return (hub.port, try #require(answer.media.first?.iceUfrag))
    }.get()
    let check = Self.forgedCheck(fragment)
    let (refusal, strays) = try await NIOThreadPool.singleton.runIfActive {
      let stranger = try Stranger(to: port)
      #expect(stranger.send(check) == check.count)
      let refusal = stranger.receive()
      // Looks like media; from a peer's address it would go to the peer.
      for _ in 0..<5 { #expect(stranger.send([0x80, 96] + [UInt8](repeating: 0, count: 40)) == 42) }
      var strays: UInt64 = 0
      for _ in 0..<500 where strays < 5 {
        strays = (try? loop.submit { hub.strayDatagrams }.wait()) ?? 0
        usleep(10_000)
      }
      return (refusal, strays)
    }
    #expect(refusal.starts(with: [0x01, 0x11]) && refusal.count <= check.count)
    #expect(strays == 5)
    await hub.shutDown()
  }
}
