import Pairing
import SDP
import Signaling
import TestSupport
import Wire

/// What a meeting place says to a parent: replies as they come, and with a good signature what the child says in them. The
/// input is lines. One that begins with `P` goes on as the payload of a presence with which the place confirms the
/// registration, one with `C` as that of a presence that is told later, one with `M` as that of a message from the child;
/// any other is a reply.
enum MeetingRepliesFuzz: FuzzBody {
  static let name = "meeting replies"

  private static let child = "0123456789abcdef"
  private static let parent = "fedcba9876543210"
  /// Of a session for orders alone.
  private static let description = [
    "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:0", "a=ice-ufrag:abcd",
    "a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa",
    "a=fingerprint:sha-256 " + Array(repeating: "0A", count: 32).joined(separator: ":"),
    "a=setup:actpass", "a=sctp-port:5000", "",
  ].joined(separator: "\r\n")
  private static let offer = try? SessionDescription(parsing: description)
  private static let challenge = String(repeating: "B", count: 21) + "A"

  /// As the session makes them from the seed.
  private static let names: (session: String, client: String) = {
    var random: any RandomNumberGenerator = SeededGenerator(seed: 4)
    let session = RandomName.make(from: &random)
    return (session, RandomName.make(from: &random))
  }()

  private static func message(_ content: SignedMessage.Content, revision: Int = 0) -> String {
    let message = SignedMessage(
      from: child, to: parent, session: names.session, challenge: challenge, revision: revision, content: content)
    return "M" + String(decoding: SignedMessageJSON.payload(message), as: UTF8.self)
  }

  static var seeds: [[UInt8]] {
    let presence = String(
      decoding: SignedMessageJSON.payload(Presence(child: child, challenge: challenge, expires: 4_102_444_800)),
      as: UTF8.self)
    let answer = message(.answer(sdp: description))
    let candidate = message(.candidate("candidate:1 1 udp 1 192.0.2.1 9 typ host", sdpMid: "0"))
    let rows = [
      ["P\(presence)", candidate, answer, message(.endOfCandidates), message(.bye(.left))],
      ["P\(presence)", #"{"vouched":{"iceServers":[{"urls":["turn:h"],"username":"u","credential":"c"}]}}"#, answer],
      ["P\(presence)", #"{"absent":true}"#], ["P\(presence)", "C\(presence)", message(.bye(.notPaired))],
      [#"{"error":{"code":"full","message":"m"}}"#], [#"{"present":"p"}"#],
    ]
    return rows.map { Array($0.joined(separator: "\n").utf8) }
  }

  private static func sealed(_ payload: Substring) -> String {
    let signature = BlindSignatures().sign([])
    return [SignedMessageJSON.header(id: child), Array(payload.utf8), signature].map { Base64URL.encode($0) }
      .joined(separator: ".")
  }

  /// Nil for what is no reply.
  private static func reply(_ line: some Sequence<UInt8>) -> RoomReply? {
    let text = String(decoding: Array(line), as: UTF8.self)
    switch text.first {
    case "P":
      return .registered(
        RoomRegistration(
          room: child, client: names.client, isInitiator: true, challenge: challenge,
          host: .elsewhere(presence: sealed(text.dropFirst()))))
    case "C": return .presence(sealed(text.dropFirst()))
    case "M": return .message(RoomDelivery(from: child, message: sealed(text.dropFirst())))
    default: return try? RoomMessages.reply(text)
    }
  }

  static func run(_ input: [UInt8]) {
    guard let offer else { preconditionFailure("it is one") }
    var session = PairedParentSession(
      envelope: SignedEnvelope(id: parent, signer: BlindSignatures(), verifier: BlindSignatures()),
      child: PairedPeer(id: child, publicKeySPKI: [], permissions: .all),
      wallClock: WallClockReference(instant: .zero, unixNanoseconds: 1_700_000_000_000_000_000),
      random: SeededGenerator(seed: 4))
    precondition(session.client == names.client, "the seed makes these names")
    var now = Instant.zero
    var hasEnded = false
    func check(_ actions: [PairedParentAction]) {
      for action in actions {
        switch action {
        case .failed, .ended:
          precondition(!hasEnded, "a session ends once")
          hasEnded = true
        case .answered: precondition(!hasEnded, "nothing follows the end")
        default: break
        }
      }
      precondition(session.hasEnded == hasEnded, "the session knows that it has ended")
      precondition(!session.hasEnded || session.nextDeadline == nil, "an ended session waits for nothing")
    }
    check(session.start(offer: offer, now: now))
    for line in input.split(separator: 10).prefix(32) {
      if let reply = reply(line) { check(session.receive(reply, now: now)) }
      now += .milliseconds(100)
    }
    var steps = 0
    while let deadline = session.nextDeadline, steps < 10 {
      now = max(now, deadline)
      check(session.handleTimeout(now: now))
      steps += 1
    }
    precondition(steps < 10, "nothing waits for ever")
  }
}
