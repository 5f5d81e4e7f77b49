/// The media direction, as the writer of the description sees it. RFC 8866 section 6.7.
public enum MediaDirection: String, Sendable, Hashable, CaseIterable {
  case sendReceive = "sendrecv"
  case sendOnly = "sendonly"
  case receiveOnly = "recvonly"
  case inactive

  public init(sends: Bool, receives: Bool) {
    self =
      switch (sends, receives) {
      case (true, true): .sendReceive
      case (true, false): .sendOnly
      case (false, true): .receiveOnly
      case (false, false): .inactive
      }
  }

  public var sends: Bool { self == .sendReceive || self == .sendOnly }
  public var receives: Bool { self == .sendReceive || self == .receiveOnly }
  /// The same flow as the other side sees it.
  public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

  /// The direction that both sides agree on. RFC 3264 section 6.1.
  public func intersection(_ other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}

/// A digest over a certificate's DER form. RFC 8122 section 5.
public struct Fingerprint: Hashable, Sendable {
  /// Lower case, for example `sha-256`.
  public var algorithm: String
  public var bytes: [UInt8]
  public var source = SourceLine()

  public init(algorithm: String, bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// From `sha-256 AB:CD:…`; hex digits in either case.
  public init?(_ text: Substring) {
    let words = text.parts()
    guard words.count == 2 else { return nil }
    var bytes: [UInt8] = []
    var digits = words[1].utf8.makeIterator()
    repeat {
      guard let high = digits.next().flatMap(Self.value), let low = digits.next().flatMap(Self.value) else {
        return nil
      }
      bytes.append(high << 4 | low)
      guard let colon = digits.next() else { break }
      guard colon == 58 else { return nil }
    } while true
    algorithm = words[0].lowercased()
    self.bytes = bytes
  }

  /// The attribute value, with upper-case hex digits.
  public var text: String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 3)
    for byte in bytes {
      if !text.isEmpty { text.append(58) }
      text.append(Self.digit(byte >> 4))
      text.append(Self.digit(byte & 15))
    }
    return algorithm + " " + String(decoding: text, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 48 + value : 55 + value
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }
}

/// Who opens the DTLS association. RFC 4145 section 4, RFC 8842 section 5.
public enum SetupRole: String, Sendable, Hashable {
  /// Sends ClientHello.
  case active
  /// Waits for it.
  case passive
  /// Accepts either role; only in offers.
  case actpass
  case holdconn
}

/// `a=fmtp`: format-specific parameters, mostly `key=value` separated by semicolons. RFC 8866 section 6.15.
public struct FormatParameters: Hashable, Sendable, ExpressibleByStringLiteral {
  /// As written.
  public var text: String

  public init(_ text: String = "") {
    self.text = text
  }

  public init(stringLiteral text: String) {
    self.text = text
  }

  public var isEmpty: Bool { text.isEmpty }

  /// The value of the first `key=value` with this key; keys are case-insensitive.
  public subscript(key: String) -> String? {
    for part in text[...].parts(59) {
      let (name, value) = part.trimmed.cut(at: 61)
      if let value, name.trimmed.lowercased() == key.lowercased() { return String(value.trimmed) }
    }
    return nil
  }
}

/// One RTP payload type: `a=rtpmap`, `a=fmtp` and `a=rtcp-fb` together.
public struct PayloadFormat: Hashable, Sendable {
  /// 0–127.
  public var number: UInt8
  /// As written; case-insensitive (RFC 4855 section 3).
  public var name: String
  /// Hz.
  public var clockRate: UInt32
  /// Audio channels; nil if the line has none.
  public var channels: Int?
  public var parameters: FormatParameters
  /// For example `nack pli`. RFC 4585 section 4.2.
  public var feedback: [String]
  /// Its `rtpmap` line.
  public var source = SourceLine()

  public init(
    number: UInt8, name: String, clockRate: UInt32, channels: Int? = nil, parameters: FormatParameters = "",
    feedback: [String] = []
  ) {
    self.number = number
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
  }
}

/// `a=extmap`: the id of an RTP header extension. RFC 8285 section 5.
public struct ExtensionMapping: Hashable, Sendable {
  public var id: UInt16
  /// Nil means both ways, within the section's own direction.
  public var direction: MediaDirection?
  public var uri: String
  /// Attributes of the extension, if any.
  public var attributes: String?

  public init(id: UInt16, direction: MediaDirection? = nil, uri: String, attributes: String? = nil) {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.attributes = attributes
  }
}

/// `a=msid`: the MediaStream and track that a section belongs to. RFC 8830 section 2.
public struct MediaStreamID: Hashable, Sendable {
  /// `-` for no stream.
  public var stream: String
  public var track: String?

  public init(stream: String, track: String?) {
    self.stream = stream
    self.track = track
  }
}

/// The `a=ssrc` lines of one source. RFC 5576 section 4.1.
public struct MediaSource: Hashable, Sendable {
  public var ssrc: UInt32
  /// Source attributes, in order.
  public var attributes: [SDPAttribute]

  public init(ssrc: UInt32, attributes: [SDPAttribute]) {
    self.ssrc = ssrc
    self.attributes = attributes
  }

  public var cname: String? { attributes.first { $0.name == "cname" }?.value }
}

/// `a=ssrc-group`, for example `FID` for a source and its retransmissions. RFC 5576 section 4.2.
public struct MediaSourceGroup: Hashable, Sendable {
  public var semantics: String
  public var ssrcs: [UInt32]

  public init(semantics: String, ssrcs: [UInt32]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }
}
