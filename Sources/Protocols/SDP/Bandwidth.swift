/// The `b=` lines of a description, or of one of its sections: how much its writer wants to receive (RFC 3264 section 5.1).
/// Other types than `AS` and `TIAS`, and values that are no number, are as if they were not there (RFC 8866 section 5.8).
public struct Bandwidth: Hashable, Sendable {
  /// `b=AS`: kbit/s, with the headers of IP, UDP and RTP. RFC 8866 section 5.8, RFC 3550 section 6.2.
  public var applicationSpecificKbps: UInt64?
  /// `b=TIAS`: bit/s of payload, without any of these headers. RFC 3890 section 6.
  public var transportIndependentBitsPerSecond: UInt64?

  /// More is the same to everybody, and sums of it fit.
  private static let largestKbps: UInt64 = 100_000_000

  public init(applicationSpecificKbps: UInt64? = nil, transportIndependentBitsPerSecond: UInt64? = nil) {
    self.applicationSpecificKbps = applicationSpecificKbps
    self.transportIndependentBitsPerSecond = transportIndependentBitsPerSecond
  }

  /// The limit in kbit/s, with the headers of IP, UDP and RTP; nil without one. `TIAS`, which says more exactly what is meant,
  /// goes before `AS`. They are related as in RFC 9429 section 5.9: 5 % are RTCP, and 50 packets a second have 40 bytes of
  /// headers each.
  ///
  /// Zero is no limit. RFC 3264 section 5.1 discourages it, and would have nothing sent at all then; libwebrtc and Firefox take
  /// it for no limit, and a direction says that nothing is wanted.
  public var limitKbps: Int? {
    if let rate = transportIndependentBitsPerSecond, rate > 0 {
      return Int(min(rate / 950 + 16, Self.largestKbps))
    }
    if let rate = applicationSpecificKbps, rate > 0 { return Int(min(rate, Self.largestKbps)) }
    return nil
  }

  /// Reads the value of a `b=` line. Of two lines of one type the later one counts.
  mutating func read(_ value: Substring) {
    let (type, rest) = value.cut(at: 58)
    guard let number = rest?.trimmed.number(as: UInt64.self) else { return }
    switch type.trimmed.uppercased() {
    case "AS": applicationSpecificKbps = number
    case "TIAS": transportIndependentBitsPerSecond = number
    default: break
    }
  }

  /// The values of the lines.
  var lines: [String] {
    [applicationSpecificKbps.map { "AS:\($0)" }, transportIndependentBitsPerSecond.map { "TIAS:\($0)" }]
      .compactMap { $0 }
  }
}
