import Server
import Signaling
import TestSupport
import Testing
import Wire

@testable import Meeting

@Suite struct MeetingFrameTests {
  private func frame(_ frame: [UInt8]) throws -> ArraySlice<UInt8> {
    var reader = MeetingFrameReader()
    // Byte by byte, as a socket may deliver it.
    var frames: [ArraySlice<UInt8>] = []
    for byte in frame {
      reader.add([byte])
      frames += try reader.frames()
    }
    try #require(frames.count == 1)
    return frames[0]
  }

  private func read<Value: Decodable>(_: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try MeetingFrame.value(in: try frame(bytes))
  }

  private func read<Incoming>(_: MeetingEvent<Incoming>.Type, _ bytes: [UInt8]) throws -> MeetingEvent<Incoming> {
    try MeetingEvent(frame: try frame(bytes))
  }

  private func written(_ value: some Encodable) -> [UInt8] { MeetingFrame.bytes(value) }

  @Test func whatIsSaidIsUnderstood() throws {
    let place = XMPPPlace(
      account: XMPPServer.address(.child), password: "secret", child: XMPPServer.address(.child),
      parents: XMPPServer.address(.parents), host: "127.0.0.1", port: 5222, authorities: "/etc/ca.pem")
    guard
      case .xmpp(place, resource: "anna-1") = try read(
        MeetingErrand.self, written(MeetingErrand.xmpp(place, resource: "anna-1")))
    else { return #expect(Bool(false)) }
    for frame in [
      written(MQTTConnection.Event.open), written(MQTTConnection.Event.left),
      written(MQTTConnection.Event.closed("why")),
      written(MQTTConnection.Event.received(.message(MQTTMessage(topic: "a/b", text: "hello")))),
      written(MQTTConnection.Event.received(.published(topic: "a/b", refusal: nil))),
      written(MQTTConnection.Event.received(.published(topic: "a/b", refusal: "why"))),
    ] {
      #expect(written(try read(MQTTConnection.Event.self, frame)) == frame)
    }
    for kind in [
      XMPPIncoming.Kind.message("x"), .refusal("x"), .presence("x"), .presence(nil), .question, .answer("x"),
      .answer(nil), .unknown, .bounced,
    ] {
      let frame = written(XMPPConnection.Event.received(XMPPIncoming(kind: kind, from: "a@b/c", id: "1")))
      #expect(written(try read(XMPPConnection.Event.self, frame)) == frame)
    }
    let publication = MQTTPublication(topic: "a/b", text: "\0\u{ff}", isRetained: true, expirySeconds: 30)
    for request in [MeetingRequest.order(publication), .leave(publication), .leave(nil)] {
      #expect(written(try read(MeetingRequest<MQTTPublication>.self, written(request))) == written(request))
    }
  }

  /// Cut off, with bytes changed, or longer than anything that is meant.
  @Test func whatIsNoFrameIsRefusedAndNeverEndsUs() throws {
    var random = SeededGenerator(seed: 1)
    let message = XMPPConnection.Event.received(XMPPIncoming(kind: .message("hello"), from: "a@b/c", id: "1"))
    for frame in [
      written(message),
      written(MQTTConnection.Event.received(.message(MQTTMessage(topic: "a/b", text: "hello")))),
    ] {
      for end in 4..<frame.count {
        #expect(throws: WireError.self) { _ = try XMPPConnection.Event(frame: frame[4..<end]) }
      }
      for _ in 0..<2000 {
        var changed = Array(frame[4...])
        changed[Int.random(in: 0..<changed.count, using: &random)] = .random(in: 0...255, using: &random)
        _ = try? XMPPConnection.Event(frame: changed[...])
        _ = try? MQTTConnection.Event(frame: changed[...])
      }
    }
    let long = XMPPIncoming(kind: .presence(String(repeating: "x", count: 1025)), from: "a@b/c", id: "1")
    #expect(throws: WireError.self) {
      try read(XMPPConnection.Event.self, written(XMPPConnection.Event.received(long)))
    }
    let text = String(repeating: "x", count: MQTTMessage.maximumBytes + 1)
    #expect(throws: WireError.self) {
      try read(
        MQTTConnection.Event.self,
        written(MQTTConnection.Event.received(.message(MQTTMessage(topic: "a", text: text)))))
    }
    var reader = MeetingFrameReader()
    reader.add([0, 8, 0, 1])
    #expect(throws: WireError.self) { try reader.frames() }
  }

  /// A process that a server has taken over, or a rendezvous, says what it likes.
  @Test func reasonsAreOneShortPrintableLine() throws {
    let evil = "\u{1b}[31mred\u{9b}0m \u{202e}rtl\n23:59:59 forged\u{7f}" + String(repeating: "Z", count: 20_000)
    let shown = "[31mred0m rtl 23:59:59 forgedZZ"
    guard case .closed(let mqtt) = try read(MQTTConnection.Event.self, written(MQTTConnection.Event.closed(evil))),
      case .closed(let xmpp) = try read(XMPPConnection.Event.self, written(XMPPConnection.Event.closed(evil))),
      case .received(.published(_, let refusal?)) = try read(
        MQTTConnection.Event.self, written(MQTTConnection.Event.received(.published(topic: "a", refusal: evil))))
    else { return #expect(Bool(false)) }
    for words in [mqtt, xmpp, refusal] {
      #expect(words.hasPrefix(shown) && words.unicodeScalars.count == 200, "\(words)")
    }
    let quoted = WebSocketClosure.byPeer(code: 1000, reason: evil).words
    #expect(quoted.hasPrefix("it has closed the connection, in its own words: “\(shown)") && quoted.count < 260)
    #expect(WebSocketClosure.byPeer(code: 1000, reason: "\u{9b}\u{202e}").words == "it has closed the connection")
  }
}
