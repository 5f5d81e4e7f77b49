import Foundation

/// What an XMPP server may do to an account that is logged in, or is about to be, with what is said of it.
public enum XMPPLie: String, CaseIterable, Sendable {
  /// Elements in elements, without end: before a session, and in one.
  case deepFeatures, deepStanza
  /// Entities of entities, which are a gigabyte.
  case entityBomb
  /// Two thousand million iterations of SCRAM-SHA-1.
  case expensivePassword
  /// Logs in, and is told that another has the same resource, each time.
  case conflict
  /// No XML any more, and the connection stays.
  case brokenSession
  /// Parents that do not exist ask for the child's presence, as fast as it goes.
  case questions
  /// Roster pushes, presences, errors and messages of every kind from everybody, as fast as it goes.
  case everything

  /// The child is there as long as the connection lasts.
  public var isPresent: Bool { self == .questions || self == .everything }

  /// Of what the child says; nil: it has no answer yet.
  public var words: String? {
    switch self {
    case .deepFeatures, .deepStanza: "it sends a message that is too long"
    case .conflict: "another connection has the same resource"
    case .brokenSession: "what it sends is not XMPP"
    case .entityBomb, .expensivePassword, .questions, .everything: nil
    }
  }

  private static let head =
    "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' from='cradle.test' "
    + "version='1.0'>"
  private static let room = "urn:cradle:meeting:1"

  private static func begin(_ rest: String, declaration: String = "") -> [LyingServer.Step] {
    [.init(after: "<stream:stream", say: "<?xml version='1.0'?>" + declaration + head + rest)]
  }

  /// SCRAM-SHA-1 with so many iterations.
  public static func server(iterations: Int) throws -> LyingServer {
    try LyingServer([Lie.login("SCRAM-SHA-1")[0], .init(after: "<auth", answering: { challenge($0, iterations) })])
  }

  public func server() throws -> LyingServer { try LyingServer(steps, flood: Array(flood.utf8)) }

  private var steps: [LyingServer.Step] {
    switch self {
    case .deepFeatures: return Self.begin("<stream:features>")
    case .deepStanza: return Lie.session + [.init(after: "<presence", say: "<message from='eve@evil.test/x'>")]
    case .entityBomb:
      var entities = "<!ENTITY a0 'haha'>"
      for level in 1...9 {
        entities += "<!ENTITY a\(level) '" + String(repeating: "&a\(level - 1);", count: 10) + "'>"
      }
      return Self.begin(
        "<stream:features>&a9;</stream:features>", declaration: "<!DOCTYPE s [\(entities)]>")
    case .expensivePassword:
      return [Lie.login("SCRAM-SHA-1")[0], .init(after: "<auth", answering: { Self.challenge($0) })]
    case .conflict:
      let name = "urn:ietf:params:xml:ns:xmpp-streams"
      return Lie.session + [
        .init(after: "<presence", say: "<stream:error><conflict xmlns='\(name)'/></stream:error></stream:stream>")
      ]
    case .brokenSession: return Lie.session + [.init(after: "<presence", say: "<message>\u{1}</message>")]
    case .questions, .everything: return Lie.session
    }
  }

  private var flood: String {
    switch self {
    case .deepFeatures, .deepStanza: return String(repeating: "<a>", count: 20_000)
    case .questions:
      return (0..<400).map { number in
        "<iq type='get' id='\(number)' from='child@cradle.test/c\(number)'><child xmlns='\(Self.room)'/></iq>"
      }.joined()
    case .everything:
      let senders = [
        "", " from='child@cradle.test/anna'", " from='child@cradle.test/cradle'", " from='cradle.test'", " from='@'",
        " from='child@cradle.test.evil/anna'", " from='\u{202e}/x'",
        " from='" + String(repeating: "y", count: 4000) + "'",
      ]
      let contents = [
        "", "<room xmlns='\(Self.room)'>a<b/>c</room>", "<room xmlns='\(Self.room)' type='refused'/>",
        "<child xmlns='\(Self.room)'>\(String(repeating: "z", count: 2000))</child>", "<body>hello</body>",
        "<query xmlns='jabber:iq:roster'><item jid='a@b.test' subscription='both'/></query>",
      ]
      let kinds = [
        "message", "message type='error'", "presence", "presence type='subscribe'", "presence type='unavailable'",
        "iq type='set' id='1'", "iq type='get'", "iq type='result' id='_xmpp_bind1'", "iq type='error' id='x'", "x",
      ]
      return kinds.flatMap { kind in
        senders.flatMap { sender in
          contents.map { "<\(kind)\(sender)>\($0)</\(kind.prefix { $0 != " " })>" }
        }
      }.joined()
    case .entityBomb, .expensivePassword, .conflict, .brokenSession: return ""
    }
  }

  /// RFC 5802 section 5.1: the client's nonce, and ours. `n,,n=user,r=nonce` is what it has said, in base64.
  private static func challenge(_ heard: [UInt8], _ iterations: Int = 2_000_000_000) -> [UInt8] {
    let text = String(decoding: heard, as: UTF8.self)
    let first = text.split(separator: ">").last?.split(separator: "<").first.map(String.init) ?? ""
    let said = Data(base64Encoded: first).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let nonce = said.split(separator: ",").last { $0.hasPrefix("r=") } ?? "r="
    let answer = Data("\(nonce)more,s=QUJD,i=\(iterations)".utf8).base64EncodedString()
    return Array("<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(answer)</challenge>".utf8)
  }
}
