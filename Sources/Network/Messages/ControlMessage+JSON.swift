public import Control
internal import JSON

// Messages of the child: `{"id":"c41","inReplyTo":"7","text":"ok","parameters":{"light":{…}}}`. interfaces/wire.md, "Data
// channel".

extension ControlMessage {
  /// JSON text for the channel, at most `ControlLimits.messageBytes`; lists are shortened until it fits.
  public var json: String { json(maximumBytes: ControlLimits.messageBytes) }

  /// The same for another channel.
  public func json(maximumBytes: Int) -> String {
    if case .push(.level(let level)) = content, let text = Self.text(of: level, id: id) { return text }
    var message = self
    while true {
      let text = JSON.text(Envelope(message))
      if text.utf8.count <= maximumBytes { return text }
      if let shorter = message.shortened {
        message = shorter
      } else {
        let error = ControlError(.internal, "The answer does not fit a message.")
        let to = message.inReplyTo.flatMap { $0.unicodeScalars.count <= ControlLimits.idLength ? $0 : nil }
        message.content = .refusal(to: to, error)
      }
    }
  }

  /// The same text as the encoder's at lower cost: five of these are sent each second, all night. Nil if the id needs
  /// escaping or a number is not finite.
  private static func text(of level: LevelDocument, id: String) -> String? {
    let plain = UInt8(ascii: "0")...UInt8(ascii: "z")
    guard id.utf8.count <= ControlLimits.idLength,
      id.utf8.allSatisfy({ plain.contains($0) && $0 != UInt8(ascii: "\\") }),
      level.levelDb.isFinite, level.time.isFinite
    else { return nil }
    return #"{"id":"\#(id)","parameters":{"levelDb":\#(level.levelDb),"time":\#(level.time)},"text":"level"}"#
  }

  private var shortened: ControlMessage? {
    var shorter = self
    switch content {
    case .reply(let to, let reply):
      guard let reply = reply.shortened else { return nil }
      shorter.content = .reply(to: to, reply)
    case .push(let push):
      guard let push = push.shortened else { return nil }
      shorter.content = .push(push)
    case .refusal(let to, let error):
      // Escaping can expand a text six times.
      let scalars = error.message.unicodeScalars
      guard !scalars.isEmpty else { return nil }
      shorter.content = .refusal(to: to, ControlError(error.code, String(scalars.prefix(scalars.count / 2))))
    }
    return shorter
  }

  fileprivate var inReplyTo: String? {
    switch content {
    case .reply(let to, _): to
    case .refusal(let to, _): to
    case .push: nil
    }
  }
}

private struct Envelope: Encodable {
  private let message: ControlMessage

  init(_ message: ControlMessage) {
    self.message = message
  }

  private enum Key: String, CodingKey {
    case id, inReplyTo, text, parameters
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(message.id, forKey: .id)
    try container.encodeIfPresent(message.inReplyTo, forKey: .inReplyTo)
    switch message.content {
    case .reply(_, let reply):
      try container.encode("ok", forKey: .text)
      try container.encode(reply, forKey: .parameters)
    case .refusal(_, let error):
      try container.encode("error", forKey: .text)
      try container.encode(["code": error.code.rawValue, "message": error.message], forKey: .parameters)
    case .push(let push):
      try container.encode(PushName(push).rawValue, forKey: .text)
      switch push {
      case .hello(let document): try container.encode(document, forKey: .parameters)
      case .state(let document): try container.encode(document, forKey: .parameters)
      case .event(let document): try container.encode(document, forKey: .parameters)
      case .heartbeat(let document): try container.encode(document, forKey: .parameters)
      case .level(let document): try container.encode(document, forKey: .parameters)
      case .goodbye(let reason): try container.encode(["reason": reason], forKey: .parameters)
      }
    }
  }
}

/// The `text` of a push: a message the child sends unasked.
enum PushName: String {
  case hello, state, event, heartbeat, level, goodbye

  init(_ push: ControlPush) {
    self =
      switch push {
      case .hello: .hello
      case .state: .state
      case .event: .event
      case .heartbeat: .heartbeat
      case .level: .level
      case .goodbye: .goodbye
      }
  }
}
