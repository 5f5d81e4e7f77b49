import Glibc
import UDP
import WebRTC

/// Sends back whatever comes: pictures, sound, and messages of a data channel. The other end can be a browser.
///
///     swift run --package-path Examples Echo offer|answer [HOST]
///
/// Descriptions go over standard output and standard input; an empty line ends each. HOST is where the other end is, so that
/// the socket is on the way to it: 127.0.0.1 without one.
@main
struct Echo {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let socket = try UDPSocket(towards: arguments.dropFirst().first ?? "127.0.0.1")
    switch arguments.first {
    case "offer": try offer(on: socket)
    case "answer": try answer(on: socket)
    default: fatalError("usage: Echo offer|answer [HOST]")
    }
  }

  private static func offer(on socket: UDPSocket) throws {
    let peer = try PeerConnection.make(audio: .sendReceive, video: .sendReceive)
    peer.addLocalCandidate(socket.address, now: MonotonicClock.now)
    let offer = try peer.offer(wantsDataChannel: true, now: MonotonicClock.now)
    write(offer.description)
    let answer = try SessionDescription(parsing: read())
    try peer.accept(answer, now: MonotonicClock.now)
    var session = Session(peer: peer, greeting: "hello")
    session.run(on: socket)
  }

  private static func answer(on socket: UDPSocket) throws {
    let peer = try PeerConnection.make(audio: .sendReceive, video: .sendReceive)
    peer.addLocalCandidate(socket.address, now: MonotonicClock.now)
    let offer = try SessionDescription(parsing: read())
    let answer = try peer.answer(offer, now: MonotonicClock.now)
    write(answer.description)
    var session = Session(peer: peer)
    session.run(on: socket)
  }

  private static func write(_ description: String) {
    print(description)
    fflush(nil)
  }

  private static func read() -> String {
    var lines: [String] = []
    while let line = readLine(), !line.isEmpty { lines.append(line) }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
