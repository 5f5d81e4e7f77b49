public import Control
public import Wire

/// Who may begin a fire drill, and when there may be another: while one runs, nobody hears the baby. Pure.
public struct DrillPolicy: Sendable {
  /// From the beginning of one to the next that somebody else than an owner begins.
  public static let interval: Duration = .seconds(600)

  private var lastStart: Instant?

  public init() {}

  /// Throws `not-permitted` or `busy`, with words for a person.
  ///
  /// - Parameters:
  ///   - mayStart: it is paired, and its access does not expire.
  ///   - isOwner: it has `admin`. An owner may begin another at once, as after turning the sound of a phone up; who has `admin`
  ///     could also unpair everybody.
  ///   - isRunning: there is one.
  public func check(mayStart: Bool, isOwner: Bool, isRunning: Bool, now: Instant) throws(ControlError) {
    guard mayStart else {
      throw ControlError(.notPermitted, "Only a paired device whose access does not expire can start a drill.")
    }
    guard !isRunning else { throw ControlError(.busy, "A fire drill is running.") }
    guard !isOwner, let lastStart, now - lastStart < Self.interval else { return }
    let minutes = (Self.interval - (now - lastStart) + .seconds(59)).nanoseconds / 60_000_000_000
    throw ControlError(
      .busy, "There was a drill a few minutes ago. Try again in \(minutes) min, or ask an owner of the camera.")
  }

  public mutating func recordStart(now: Instant) { lastStart = now }
}
