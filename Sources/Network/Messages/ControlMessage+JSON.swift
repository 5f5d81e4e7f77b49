public import Control
internal import JSON

// Messages of the child: `{"id":"c41","inReplyTo":"7","text":"ok","parameters":{"light":{…}}}`. interfaces/wire.md, "Data
// channel".

extension ControlMessage {
  /// JSON text for the channel, at most `ControlLimits.messageBytes`; lists are shortened until it fits.
  public var json: String {
    if case .push(.level(let level)) = content, let text = Self.text(of: level, id: id) { return text }
    var message = self
    while true {
      let text = JSON.text(Envelope(message))
      if text.utf8.count <= ControlLimits.messageBytes { return text }
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
      try container.encode(ReplyParameters(reply: reply), forKey: .parameters)
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

private struct ReplyParameters: Encodable {
  let reply: ControlReply

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ReplyMember.self)
    switch reply {
    case .time(let time): try container.encode(time, forKey: .time)
    case .status(let status): try status.encode(to: encoder)
    case .light(let light): try container.encode(light, forKey: .light)
    case .tracks(let tracks): try container.encode(tracks, forKey: .tracks)
    case .lullaby(let lullaby): try container.encode(lullaby, forKey: .lullaby)
    case .cameras(let cameras): try container.encode(cameras, forKey: .cameras)
    case .transfer(let transfer): try transfer.encode(to: encoder)
    case .talk(let talk): try container.encode(talk, forKey: .talk)
    case .events(let events): try container.encode(events, forKey: .events)
    case .report(let report): try container.encode(report, forKey: .report)
    case .hearing(let hearing): try container.encode(hearing, forKey: .hearing)
    case .drill(let drill): try container.encode(drill, forKey: .drill)
    case .pairing(let pairing): try container.encode(pairing, forKey: .pairing)
    case .pairs(let pairs): try container.encode(pairs, forKey: .pairs)
    case .invite(let invite): try container.encode(invite, forKey: .invite)
    case .recordings(let recordings): try container.encode(recordings, forKey: .recordings)
    case .pushKey(let key): try key.encode(to: encoder)
    case .pushTest(let test): try test.encode(to: encoder)
    case .done: break
    }
  }
}

/// The names of reply parameters that hold a whole document.
enum ReplyMember: String, CodingKey {
  case time, light, tracks, lullaby, cameras, talk, events, report, hearing, drill, pairing, pairs, invite, recordings
}
