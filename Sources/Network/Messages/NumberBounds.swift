internal import Control
public import JSON

/// Which numbers can be in a document of the child: by the name of the member that holds them, which means the same in
/// every document. Whoever reads one may then add, subtract and convert them.
enum NumberBounds {
  /// What JSON holds exactly (RFC 8259 section 6): for members that are not listed, as those of a newer child.
  static let any = -9_007_199_254_740_992.0...9_007_199_254_740_992.0
  private static let counts = 0.0...any.upperBound
  /// Three hundred years.
  private static let seconds = 0.0...1e10
  private static let kbps = 0.0...1e9
  private static let milliseconds = 0.0...1e12
  private static let minutes = 0.0...ControlLimits.reportSeconds.upperBound / 60
  private static let decibels = -1000.0...1000.0
  private static let pixels = 0.0...65_536.0
  private static let percent = 0.0...100.0

  private static let byName: [String: ClosedRange<Double>] = {
    let groups: [(ClosedRange<Double>, [String])] = [
      (
        ControlLimits.unixSeconds,
        ["time", "since", "began", "acknowledgedAt", "expiresAt", "createdAt", "lastSeenAt", "from", "to"]
      ),
      (0...ControlLimits.unixSeconds.upperBound * 1000, ["captureTimestamp"]),
      (seconds, ["seconds", "uptimeSeconds", "positionSeconds", "remainingSeconds", "timerSeconds"]),
      (minutes, ["minutes", "recordedMinutes", "monitoredMinutes", "runs"]),
      (decibels, ["levelDb", "thresholdDb", "loudestDb"]),
      (-2...1000, ["levels"]),
      (percent, ["brightness", "volume", "maximumVolume", "lossPercent"]),
      (pixels, ["width", "height"]),
      (kbps, ["targetKbps", "estimateKbps"]),
      (milliseconds, ["queueMs", "roundTripMs"]),
      (0...1000, ["soundCopies"]),
      (0...65_535, ["port"]),
      (0...4_294_967_295, ["rtpTimestamp", "transfer"]),
      (
        counts,
        [
          "sequence", "number", "count", "captured", "encoded", "keyFrames", "sent", "probesSent", "probesSucceeded",
          "size",
          "total", "bytes", "restarts", "reconnects",
        ]
      ),
    ]
    return Dictionary(uniqueKeysWithValues: groups.flatMap { range, names in names.map { ($0, range) } })
  }()

  static func bounds(of name: String) -> ClosedRange<Double> { byName[name] ?? any }
  static func knows(_ name: String) -> Bool { byName[name] != nil }
}

/// A number that cannot be in a document.
public struct ImpossibleNumber: Error, Hashable, Sendable, CustomStringConvertible {
  public var member: String
  public var number: Double

  /// `"minutes" cannot be -1.0`.
  public var description: String { "\"\(member)\" cannot be \(number)" }
}

extension JSON {
  /// - Throws: for a number beyond `NumberBounds`, however deep; elements of an array go by the array's name.
  public func checkNumbers() throws(ImpossibleNumber) {
    try checkNumbers(of: "")
  }

  private func checkNumbers(of name: String) throws(ImpossibleNumber) {
    switch self {
    case .null, .bool, .string: break
    case .number(let number):
      guard NumberBounds.bounds(of: name).contains(number) else {
        throw ImpossibleNumber(member: name, number: number)
      }
    case .array(let elements): for element in elements { try element.checkNumbers(of: name) }
    case .object(let members): for (name, value) in members { try value.checkNumbers(of: name) }
    }
  }
}
