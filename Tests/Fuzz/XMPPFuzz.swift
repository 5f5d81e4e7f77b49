import CStrophe
import Meeting

/// Stanzas of an XMPP server, and what we make of texts that others have written. An input is XML; as a text it is also written
/// into a stanza of ours.
enum XMPPFuzz: FuzzBody {
  static let name = "XMPP"

  private static let child = "0123456789abcdef"
  private static let address = "parents@xmpp.example.org/anna"

  static var seeds: [[UInt8]] {
    let stanzas = [
      XMPPStanza.message(#"{"from":"anna","msg":"a.b.c"}"#, to: address),
      XMPPStanza.message("no", kind: "refused", to: address),
      XMPPStanza.presence("a.b.c", of: child, to: address), XMPPStanza.question("q1", to: address),
    ]
    // As the server passes them on.
    let received = stanzas.map { $0.xml.replacing("to='", with: "from='child@xmpp.example.org/cradle' to='") }
    let others = [
      "<presence type='unavailable' from='a@b/c'/>",
      "<iq type='result' id='q1' from='a@b'><child xmlns='urn:cradle:meeting:1'>"
        + "a.b.c</child></iq>", "<iq type='error' id='q1' from='a@b'/>", "]]>&<\u{1}\u{fffe}'\"\t",
    ]
    return (received + others).map { Array($0.utf8) }
  }

  private struct Library: @unchecked Sendable {
    let context: OpaquePointer?

    init() {
      xmpp_initialize()
      context = xmpp_ctx_new(nil, nil)
    }
  }

  private static let library = Library()

  /// What we would receive; nil for what is not XML, and for what is not for us.
  private static func incoming(_ xml: String) -> XMPPIncoming? {
    guard !xml.utf8.contains(0), let stanza = xmpp_stanza_new_from_string(library.context, xml) else { return nil }
    defer { xmpp_stanza_release(stanza) }
    return StropheRecord.read(stanza)
  }

  static func run(_ input: [UInt8]) {
    let text = String(decoding: input.prefix(4096), as: UTF8.self)
    if let incoming = incoming(text) {
      precondition(!incoming.from.isEmpty || incoming.id.utf8.count <= 1024, "names are bounded")
      if case .question = incoming.kind { _ = XMPPStanza.answer(text, of: child, to: incoming) }
      _ = XMPPStanza.refusal(of: incoming)
    }
    // Whatever the text is, it stays text.
    let allowed = text.unicodeScalars.filter {
      !(($0.value < 0x20 && !"\t\n\r".unicodeScalars.contains($0)) || $0.value == 0xfffe || $0.value == 0xffff)
    }
    var expected = ""
    expected.unicodeScalars.append(contentsOf: allowed)
    let xml = XMPPStanza.message(text, to: text).xml.replacing(
      "<message ", with: "<message from='a@b/c' ", maxReplacements: 1)
    switch incoming(xml)?.kind {
    case .message(let read)?: precondition(read == expected, "what was written reads back the same")
    case nil: precondition(expected.isEmpty, "an element that is empty is left out")
    default: preconditionFailure("a message is a message")
    }
  }
}
