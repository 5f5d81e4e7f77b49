import SDP
import Signaling
import TestSupport
import Testing
import Wire

/// A WHEP client with a shell around it that keeps what it is told to do.
struct WHEPPlayer {
  var client: WHEPClient
  var now = Instant.zero
  /// In order.
  var requests: [WHEPClientRequest] = []
  /// Everything but requests, in order.
  var events: [WHEPClientAction] = []

  static let fragmentType = "application/trickle-ice-sdpfrag"
  static let restartBody =
    "a=ice-ufrag:Thrs\r\na=ice-pwd:theirstheirstheirstheirs\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
    + "a=candidate:7 1 udp 1 192.0.2.1 9 typ host\r\na=end-of-candidates\r\n"

  init(_ url: String = "https://child.example:8443/whep?camera=cot", token: String? = "secret") throws {
    let configuration = WHEPClientConfiguration(url: try HTTPURL(url), token: token)
    client = WHEPClient(configuration: configuration, random: SeededGenerator(seed: 3))
  }

  /// One that has posted its offer.
  static func started(
    _ url: String = "https://child.example:8443/whep?camera=cot", token: String? = "secret"
  ) throws -> WHEPPlayer {
    var player = try WHEPPlayer(url, token: token)
    try player.start()
    return player
  }

  /// One whose session is open at `/whep/one`, tag `"a"`.
  static func opened() throws -> WHEPPlayer {
    var player = try started()
    player.answer(201, accepted)
    #expect(player.client.isOpen)
    return player
  }

  static let accepted: HTTPFields = ["Content-Type": "application/sdp", "Location": "/whep/one", "ETag": "\"a\""]

  static func answerText() throws -> String {
    WHEPHarness.answer(try SessionDescription(parsing: WHEPHarness.offer)).description
  }

  var last: WHEPClientRequest? { requests.last }

  mutating func start() throws {
    let offer = try SessionDescription(parsing: WHEPHarness.offer)
    perform { $0.start(offer: offer, now: $1) }
  }

  mutating func perform(_ call: (inout WHEPClient, Instant) -> [WHEPClientAction]) {
    for action in call(&client, now) {
      if case .send(let request) = action { requests.append(request) } else { events.append(action) }
    }
  }

  /// Answers the last request; 201 has a good answer unless a body is given.
  mutating func answer(_ status: Int, _ headers: HTTPFields = [:], _ body: String? = nil) {
    guard let id = requests.last?.id else { return }
    let text = body ?? (status == 201 ? (try? Self.answerText()) ?? "" : "")
    let response = WHEPResponse(status: status, headers: headers, body: Array(text.utf8))
    perform { $0.receive(response, for: id, now: $1) }
  }

  mutating func lose() {
    guard let id = requests.last?.id else { return }
    perform { $0.requestFailed(id, reason: "the cable is out", now: $1) }
  }

  /// Goes on to the next deadline.
  mutating func wait() -> Duration? {
    guard let deadline = client.nextDeadline else { return nil }
    let time = deadline - now
    perform { $0.handleTimeout(now: $1) }
    now = deadline
    perform { $0.handleTimeout(now: $1) }
    return time
  }

  mutating func candidate(_ number: Int) {
    perform { $0.addLocalCandidate("candidate:\(number) 1 udp 1 192.0.2.9 \(number) typ host", now: $1) }
  }

  mutating func restart(_ name: String = "Neww") {
    perform {
      $0.restartICE(
        ufrag: name, pwd: "newnewnewnewnewnewnewnew", candidates: ["candidate:1 1 udp 1 192.0.2.9 1 typ host"],
        isComplete: true, now: $1)
    }
  }

  var isClosed: Bool { events.contains(.closed) }

  var failure: WHEPClientError? {
    for case .failed(let error) in events { return error }
    return nil
  }

  var refusal: WHEPRefusal? {
    if case .refused(let refusal)? = failure { refusal } else { nil }
  }
}

extension WHEPClientRequest {
  var text: String { String(decoding: body, as: UTF8.self) }
}
