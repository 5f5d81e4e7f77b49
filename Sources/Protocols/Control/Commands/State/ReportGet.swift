internal import Pairing

/// The report of a night. It has how loud the room was.
public struct ReportGet: ControlCommand {
  public typealias Reply = ReportDocument
  public static let name = "report.get"
  public static let requirement: Requirement = .any([.listen, .admin])
  public static let parameters: [ControlParameter] = [
    .number("from", in: ControlLimits.unixSeconds, missing: "is missing; it is a time in seconds since 1970"),
    .number("to", in: ControlLimits.unixSeconds, missing: "is missing; it is a time in seconds since 1970"),
    .number("noiseDb", in: ControlLimits.noiseDb),
  ]
  /// Counting costs the board's processor and disk.
  public static let rate: ControlRate? = ControlRate(
    burst: 10, interval: .seconds(10), refusal: "Too many reports; the limit is one in 10 seconds.",
    sparesParents: true)

  /// Seconds since 1970-01-01 UTC.
  public var from: Double
  public var to: Double
  /// Louder minutes are noise; dB relative to full scale. Nil: `ControlDefaults.noiseDb`.
  public var noiseDb: Double?

  public init(from: Double, to: Double, noiseDb: Double? = nil) {
    self.from = from
    self.to = to
    self.noiseDb = noiseDb
  }

  public func validate() throws(ControlError) {
    guard ControlLimits.reportSeconds.contains(to - from) else {
      throw .badParameter("to", "is a minute to 366 days after \"from\"")
    }
  }
}
