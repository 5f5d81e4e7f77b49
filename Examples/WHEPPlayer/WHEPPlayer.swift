import Foundation
import UDP
import WebRTC

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
    let start = MonotonicClock.now
    var now: Instant { MonotonicClock.now }
    var elapsed: String { String(format: "%.3f s", (now - start) / .seconds(1)) }
    let socket = try UDPSocket(towards: options.host)

    let peer = try PeerConnection.make(audio: .receiveOnly, video: .receiveOnly)
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
        case .event(.stateChanged(let state)): print("\(elapsed): \(state)")
        case .event(.audio): sounds += 1
        case .event(.videoFrame(let frame)):
          pictures += 1
          let kind = frame.isKeyFrame ? "key frame" : "picture"
          print("\(elapsed): \(kind) of \(frame.payload.count) bytes")
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
