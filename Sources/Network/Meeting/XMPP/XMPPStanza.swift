internal import Wire

/// What we send, as XML. interfaces/wire.md, "Meeting places".
package struct XMPPStanza: Codable, Hashable, Sendable {
  package let xml: String

  static let namespace = "urn:cradle:meeting:1"

  private init(_ xml: String) {
    self.xml = xml
  }

  /// Available, but not for messages to the account itself (RFC 6121 section 4.7.2.3).
  static let available = XMPPStanza("<presence><priority>-1</priority></presence>")

  /// To one client alone, which the server notifies when we have gone (RFC 6121 section 4.6).
  package static func presence(_ statement: String, of child: String, to address: String) -> XMPPStanza {
    XMPPStanza(
      "<presence to='\(escaped(address))'><priority>-1</priority>\(element(statement, child))</presence>")
  }

  /// Asks a child for its presence.
  package static func question(_ id: String, to address: String) -> XMPPStanza {
    XMPPStanza(
      "<iq type='get' id='\(escaped(id))' to='\(escaped(address))'><child xmlns='\(namespace)'/></iq>")
  }

  package static func answer(_ statement: String, of child: String, to question: XMPPIncoming) -> XMPPStanza {
    XMPPStanza(
      "<iq type='result' id='\(escaped(question.id))' to='\(escaped(question.from))'>"
        + "\(element(statement, child))</iq>")
  }

  /// RFC 6120 section 8.4: whoever is asked what it does not know says so.
  package static func refusal(of question: XMPPIncoming) -> XMPPStanza {
    XMPPStanza(
      "<iq type='error' id='\(escaped(question.id))' to='\(escaped(question.from))'><error type='cancel'>"
        + "<service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
  }

  /// - Parameter kind: nil, or `refused`: the text is for a person.
  package static func message(_ text: String, kind: String? = nil, to address: String) -> XMPPStanza {
    let type = kind.map { " type='\($0)'" } ?? ""
    return XMPPStanza(
      "<message type='chat' to='\(escaped(address))'><room xmlns='\(namespace)'\(type)>\(escaped(text))</room>"
        + "<no-store xmlns='urn:xmpp:hints'/></message>")
  }

  private static func element(_ statement: String, _ child: String) -> String {
    "<child xmlns='\(namespace)' id='\(escaped(child))'>\(escaped(statement))</child>"
  }

  /// Without the characters that XML does not have (XML 1.0 section 2.2).
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "'": result += "&apos;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// What we receive, as far as we want to know.
package struct XMPPIncoming: MeetingIncoming {
  package enum Kind: Codable, Sendable {
    /// A message in a room.
    case message(String)
    case refusal(String)
    /// A child's presence; nil: it has gone.
    case presence(String?)
    /// A question for a child's presence.
    case question
    /// The answer to our question; nil: an error.
    case answer(String?)
    /// A message of ours that comes back: its server, or somebody on the way, does not deliver it (RFC 6120 section 8.3).
    case bounced
    /// A question that we do not know.
    case unknown
  }

  package var kind: Kind
  /// A full JID.
  package var from: String
  package var id: String

  /// RFC 7622 section 3.1: three parts of up to 1023 bytes.
  static let longestAddress = 3071
  static let longestID = 1024
  static let longestMessage = 64 * 1024
  static let longestStatement = 1024

  var isOfOurLength: Bool {
    guard from.utf8.count <= Self.longestAddress, id.utf8.count <= Self.longestID else { return false }
    return switch kind {
    case .message(let text), .refusal(let text): text.utf8.count <= Self.longestMessage
    case .presence(let statement), .answer(let statement): (statement ?? "").utf8.count <= Self.longestStatement
    case .question, .bounced, .unknown: true
    }
  }

  var isMessage: Bool { true }

  func checked() throws(WireError) -> XMPPIncoming {
    guard isOfOurLength else { throw .malformed("a stanza is too long") }
    return self
  }
}
