import ArgumentParser
import Frames
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import PeerConnection
import RTPReceiving
import SDP
import SecureTransport
import Server
import Signaling
import Wire

/// Many viewers in one process that count packets and pictures and decode none, so that watching leaves the cores to the
/// child.
struct Crowd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Watches with many viewers that decode nothing; prints what each received, as JSON.")

  @Option(help: "The WHEP endpoint.")
  var whep: String
  @Option(help: "Bearer tokens, separated by commas; four viewers use each.")
  var tokens: String
  @Option(help: "How many.")
  var viewers = 24
  @Option(help: "Seconds to count, when all are connected.")
  var seconds = 20.0
  @Option(help: "Seconds before that, for the encoder to settle.")
  var settling = 5.0

  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  private struct Report {
    /// Of each viewer.
    var framesPerSecond: [Double]
    var kbps: [Double]
    var packetsLost: [Int64]
    /// Packets of all viewers, a second.
    var packetsPerSecond: Double
  }

  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let key = PrivateKey.generate()
    let transports = try OpenSSLTransports(key: key, certificate: Certificate(key: key))
    let tokens = tokens.split(separator: ",").map(String.init)
    var watching: [(hub: PeerHub, peer: PeerID)] = []
    for number in 0..<viewers {
      // Each has a port of its own: by its address a child knows whose packets they are.
      let hub = PeerHub(eventLoop: group.next(), limit: 1, now: { MonotonicClock.now }) { configuration in
        PeerConnection(
          configuration: configuration, secure: transports, hashes: CryptoHashes(),
          random: SystemRandomNumberGenerator(), wallClock: MonotonicClock.wallClockReference)
      }
      try await hub.bind(ports: 0...0)
      watching.append((hub, try await connect(hub, token: tokens[number / 4 % tokens.count])))
      // A child takes four offers a second from one address.
      try await Task.sleep(for: .milliseconds(300))
    }
    let all = watching
    try await Task.sleep(for: .seconds(settling))
    let before = try await counts(all)
    let began = MonotonicClock.now
    // At once, for whoever counts the child's processor time meanwhile.
    _ = "counting\n".withCString { write(1, $0, 9) }
    try await Task.sleep(for: .seconds(seconds))
    let after = try await counts(all)
    let time = (MonotonicClock.now - began).inSeconds
    try printJSON(
      Report(
        framesPerSecond: zip(before, after).map { Double($1.frames - $0.frames) / time },
        kbps: zip(before, after).map { Double($1.bytes - $0.bytes) * 8 / 1000 / time },
        packetsLost: zip(before, after).map { $1.lost - $0.lost },
        packetsPerSecond: zip(before, after).reduce(0) { $0 + Double($1.1.packets - $1.0.packets) } / time))
    for (hub, _) in watching { await hub.shutDown() }
    try await group.shutdownGracefully()
  }

  private struct Counts: Sendable {
    var frames: UInt64
    var packets: UInt64
    var bytes: UInt64
    var lost: Int64
  }

  private func counts(_ watching: [(hub: PeerHub, peer: PeerID)]) async throws -> [Counts] {
    var counts: [Counts] = []
    for (hub, peer) in watching {
      counts.append(
        try await hub.eventLoop.submit {
          guard let connection = hub.connection(peer), connection.state == .connected else {
            throw Problem(description: "a viewer is not connected")
          }
          let statistics = connection.statistics(now: MonotonicClock.now)
          let video = statistics.inboundRTP.first { $0.kind == .video }
          return Counts(
            frames: video?.framesReceived ?? 0, packets: statistics.packetsReceived, bytes: statistics.bytesReceived,
            lost: video?.packetsLost ?? 0)
        }.get())
    }
    return counts
  }

  private func connect(_ hub: PeerHub, token: String) async throws -> PeerID {
    let url = try HTTPURL(whep)
    let loop = hub.eventLoop
    let extensions = [
      RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
      RTPHeaderExtensionURI.absCaptureTime,
    ]
    let media = [(MediaKind.video, [RTPCodec.vp8, .rtx]), (.audio, [.opus])].map { kind, codecs in
      LocalMedia(
        kind: kind, direction: .receiveOnly, codecs: codecs, headerExtensions: extensions,
        ssrc: .random(in: 1...UInt32.max), cname: "crowd", streamID: "-", trackID: kind == .video ? "video" : "audio")
    }
    let (peer, answer) = try await loop.submit { () -> EventLoopFuture<(PeerID, HTTPResponse)> in
      let client = try HTTPClient(origin: url.origin, trust: .firstUse { _ in true }, eventLoop: loop)
      let (peer, offer) = try hub.offer(
        configuration: PeerConnectionConfiguration(media: media), wantsDataChannel: false, includingLoopback: true)
      let promise = loop.makePromise(of: (PeerID, HTTPResponse).self)
      let request = HTTPClientRequest(
        .POST, url, headers: ["Content-Type": "application/sdp", "Authorization": "Bearer \(token)"],
        body: Array(offer.description.utf8))
      client.send(request) { result in
        client.close()
        promise.completeWith(result.map { (peer, $0) }.mapError { $0 as any Error })
      }
      return promise.futureResult
    }.flatMap { $0 }.get()
    guard answer.status == HTTPResponseStatus.created else {
      throw Problem(description: "\(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
    }
    let description = try SessionDescription(parsing: String(decoding: answer.body, as: UTF8.self))
    try await loop.submit { try hub.with(peer) { connection, now in try connection.accept(description, now: now) } }
      .get()
    return peer
  }

  private func printJSON(_ report: Report) throws {
    let numbers = { (values: [Double]) in values.map { "\(($0 * 100).rounded() / 100)" }.joined(separator: ",") }
    print(
      """
      {"framesPerSecond":[\(numbers(report.framesPerSecond))],"kbps":[\(numbers(report.kbps))],\
      "packetsLost":\(report.packetsLost),"packetsPerSecond":\(report.packetsPerSecond.rounded())}
      """)
  }
}
