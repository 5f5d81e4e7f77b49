import SDP
import Signaling
import TestSupport
import Wire

/// A server that answers whatever it likes, several times over. The input is blocks divided by NUL: each is a response,
/// in lines: status, Location, Content-Type, ETag, Link, Retry-After; the rest is the body. The first one answers the
/// offer; before each later one the viewer trickles or restarts.
enum WHEPClientFuzz: FuzzBody {
  static let name = "WHEP client"

  private static let offer = Fixture.text("offer-aiortc.sdp")
  private static let url: HTTPURL = {
    guard let url = try? HTTPURL("https://child:8443/whep") else { preconditionFailure("a good URL") }
    return url
  }()

  /// A client that has sent its offer, at the beginning of time.
  private static let started: (client: WHEPClient, shell: Shell) = {
    guard let description = try? SessionDescription(parsing: offer) else { preconditionFailure("a good offer") }
    var client = WHEPClient(
      configuration: WHEPClientConfiguration(url: url, token: "secret"), random: SeededGenerator(seed: 1))
    var shell = Shell(origin: url.origin)
    shell.perform(client.start(offer: description, now: .zero))
    return (client, shell)
  }()

  static var seeds: [[UInt8]] {
    let fragment = "application/trickle-ice-sdpfrag"
    let candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:0\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\n"
    let restart = "a=ice-ufrag:Neww\na=ice-pwd:newnewnewnewnewnewnewnew\n" + candidate
    let created =
      "201\n/whep/a/../b?c\napplication/sdp\n\"a\"\n<turn:t>; rel=\"ice-server\"; username=\"u\\\"\"; credential=c\n\n"
      + offer
    return [
      created, "\(created)\0204\n\n\n\n\n\n\0200\n\n\(fragment)\n\"b\"\n\n\n\(restart)\0405\n\n\n\n\n\n",
      "\(created)\0200\n\n\(fragment)\n\n\n\n\(candidate)\0308\n//[::1]:8443/x\n\n\n\n\n\0503\n\n\n\n\n3\n",
      "307\nhttps://else.example:8444/whep\n\n\n\n\n\0" + created,
      "401\n\napplication/problem+json\n\n\n\n{\"title\":\"a\\u00e4\\ud83d\\ude00\",\"x\":[{}],\"detail\":\"b\"}",
      "503\n\ntext/plain\n\n\n17\nfull\0406\n/x\napplication/sdp\n\n\n\nv=0",
    ].map { Array($0.utf8) }
  }

  static func run(_ input: [UInt8]) {
    var now = Instant.zero
    var (client, shell) = started
    for (number, block) in input.split(separator: 0, maxSplits: 16, omittingEmptySubsequences: false).enumerated() {
      if number > 0 {
        let candidate = "candidate:\(number) 1 udp 1 192.0.2.9 9 typ host"
        shell.perform(client.addLocalCandidate(candidate, now: now))
        if number % 2 == 0 {
          shell.perform(
            client.restartICE(
              ufrag: "Nw\(number + 10)", pwd: "newnewnewnewnewnewnewnew", candidates: [candidate], isComplete: true,
              now: now))
        }
      }
      guard let request = shell.pending else { continue }
      shell.pending = nil
      shell.perform(client.receive(response(Array(block)), for: request, now: now))
      while let deadline = client.nextDeadline {
        precondition(deadline >= now && deadline - now <= .seconds(30), "waits are bounded")
        now = deadline
        shell.perform(client.handleTimeout(now: now))
        precondition(client.nextDeadline != deadline, "what was due is done")
      }
    }
    shell.perform(client.leave(now: now))
    for _ in 0..<20 {
      guard let request = shell.pending else { break }
      shell.pending = nil
      shell.perform(client.receive(WHEPResponse(status: 200), for: request, now: now))
    }
    precondition(client.hasEnded && shell.endings == 1, "every session ends once")

    let text = String(decoding: input, as: UTF8.self)
    if let read = try? url.resolving(text) {
      precondition((try? HTTPURL(read.description)) == read, "what was written reads back the same")
    }
  }

  private static func response(_ block: [UInt8]) -> WHEPResponse {
    let parts = block.split(separator: 10, maxSplits: 6, omittingEmptySubsequences: false)
    let lines = (0..<6).map { $0 < parts.count ? String(decoding: parts[$0], as: UTF8.self) : "" }
    var headers = HTTPFields()
    for (name, value) in zip(["Location", "Content-Type", "ETag", "Link", "Retry-After"], lines.dropFirst())
    where !value.isEmpty {
      headers.add(name, value)
    }
    return WHEPResponse(
      status: Int(lines[0]) ?? 500, headers: headers, body: parts.count > 6 ? Array(parts[6]) : [])
  }

  private struct Shell {
    let origin: HTTPOrigin
    var pending: WHEPRequestID?
    var endings = 0

    mutating func perform(_ actions: [WHEPClientAction]) {
      for action in actions {
        switch action {
        case .send(let request):
          pending = request.id
          precondition(
            (request.headers["Authorization"] != nil) == (request.url.origin == origin), "the token stays at home")
          precondition(request.url.origin.scheme == .https, "what began on HTTPS stays there")
          precondition(request.url.target.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "a target is one word")
        case .failed, .closed:
          endings += 1
        case .waiting, .answered, .addCandidates, .restarted, .restartFailed:
          break
        }
      }
    }
  }
}
