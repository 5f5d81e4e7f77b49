/// A codec in which pictures are encoded.
public enum VideoCodec: Int, CaseIterable, Hashable, Sendable {
  /// RFC 6386; over RTP as in RFC 7741.
  case vp8
  /// ITU-T H.264, constrained baseline profile; over RTP as in RFC 6184.
  case h264

  /// As registered under RFC 4855.
  public var name: String {
    switch self {
    case .vp8: "VP8"
    case .h264: "H264"
    }
  }

  /// Names are case-insensitive; nil for other codecs.
  public init?(name: String) {
    guard let codec = Self.allCases.first(where: { $0.name == name.uppercased() }) else { return nil }
    self = codec
  }

  /// A viewer with a narrow path can be sent every other picture alone (RFC 7741 section 4.2).
  public var hasTemporalLayers: Bool { self == .vp8 }
}

/// A value for each codec.
public struct PerCodec<Value> {
  private var values: [Value]

  public init(_ value: (VideoCodec) -> Value) {
    values = VideoCodec.allCases.map(value)
  }

  public subscript(codec: VideoCodec) -> Value {
    get { values[codec.rawValue] }
    set { values[codec.rawValue] = newValue }
  }
}

extension PerCodec: Sendable where Value: Sendable {}
