import Foundation
import PeerConnection
import SDP
import SecureTransport
import Wire

/// Watches a WHEP server, such as a child, and prints each picture as it arrives: what a player does before it decodes.
///
///     swift run --package-path Examples WHEPPlayer URL --token TOKEN [--fingerprint SHA256] [--pictures N]
///
/// The fingerprint is that of the server's key, as `curl --pinnedpubkey` takes it; without one the certificate has to be
/// valid. HTTP is curl's business, media is ours: one UDP socket, one peer connection, one loop.
@main
struct WHEPPlayer {
  static func main() {
    do {
      try play(Options(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("WHEPPlayer: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func play(_ options: Options) throws {
    let start = ContinuousClock.now
    var now: Instant { .zero + start.duration(to: .now) }
    let socket = try UDPSocket(towards: options.host)

    let key = PrivateKey.generate()
    let peer = PeerConnection(
      configuration: PeerConnectionConfiguration(media: Self.media),
      secure: try OpenSSLTransports(key: key, certificate: Certificate(key: key)), hashes: CryptoHashes(),
      random: SystemRandomNumberGenerator(), wallClock: Self.wallClock(at: now))
    peer.addLocalCandidate(socket.address, now: now)

    let http = WHEPRequests(options)
    let offer = try peer.offer(wantsDataChannel: false, now: now)
    let session = try http.post(offer: offer.description)
    defer { http.delete(session.location) }
    try peer.accept(SessionDescription(parsing: session.answer), now: now)

    var (pictures, sounds) = (0, 0)
    while pictures < options.pictures, !peer.state.isOver {
      while let output = peer.poll() {
        switch output {
        case .transmit(let datagram, _, let to): socket.send(datagram, to: to)
        case .event(.stateChanged(let state)): print("\(now.inWords): \(state)")
        case .event(.audio): sounds += 1
        case .event(.videoFrame(let frame)):
          pictures += 1
          let kind = frame.isKeyFrame ? "key frame" : "picture"
          print("\(now.inWords): \(kind) of \(frame.payload.count) bytes")
        case .event: break
        }
      }
      if let (datagram, source) = socket.receive(waitingUntil: peer.nextDeadline, now: now) {
        peer.handle(datagram: datagram, from: source, to: socket.address, now: now)
      }
      if let deadline = peer.nextDeadline, deadline <= now { peer.handleTimeout(now: now) }
    }
    print("\(pictures) pictures and \(sounds) times 20 ms of sound")
    if let reason = peer.failureReason { throw PlayerError(reason) }

    peer.close(now: now)
    while let output = peer.poll() {
      if case .transmit(let datagram, _, let to) = output { socket.send(datagram, to: to) }
    }
  }

  /// What we can play. The RTX SSRC is only needed by who sends.
  private static let media = [
    LocalMedia(
      kind: .video, direction: .receiveOnly, codecs: [.vp8, .rtx],
      headerExtensions: [RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC], ssrc: 1, cname: "player",
      streamID: "player", trackID: "video"),
    LocalMedia(
      kind: .audio, direction: .receiveOnly, codecs: [.opus], headerExtensions: [RTPHeaderExtensionURI.mid], ssrc: 2,
      cname: "player", streamID: "player", trackID: "audio"),
  ]

  private static func wallClock(at now: Instant) -> WallClockReference {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallClockReference(
      instant: now, unixNanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

struct PlayerError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

struct Options {
  var url = ""
  var token = ""
  var fingerprint: String?
  var pictures = Int.max

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case "--token": token = rest.popFirst() ?? ""
      case "--fingerprint": fingerprint = rest.popFirst()
      case "--pictures": pictures = rest.popFirst().flatMap { Int($0) } ?? .max
      default: url = argument
      }
    }
    guard url.hasPrefix("https://") else {
      throw PlayerError("usage: WHEPPlayer https://HOST:PORT/whep --token TOKEN [--fingerprint SHA256] [--pictures N]")
    }
  }

  /// `https://HOST:PORT/PATH`, without the path.
  var origin: String { url.split(separator: "/").prefix(2).joined(separator: "//") }
  var host: String { String(url.split(separator: "/")[1].split(separator: ":")[0]) }
}

extension Instant {
  /// Seconds since the start, such as `1.234 s`.
  var inWords: String {
    let milliseconds = nanoseconds / 1_000_000
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst()) s"
  }
}
