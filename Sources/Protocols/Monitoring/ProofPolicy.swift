public import Control
public import Wire

/// Who may begin an alarm drill or a sound check, and when: nobody hears the baby during a drill, and chirps may wake it. Pure.
public struct ProofPolicy: Sendable {
  public enum Kind: Sendable {
    case drill, soundCheck
  }

  /// Who asks.
  public enum Caller: Int, Comparable, Sendable {
    /// With a token, or paired until some time.
    case guest
    /// Paired for good.
    case parent
    /// With `admin`: who could also unpair everybody.
    case owner

    public static func < (a: Caller, b: Caller) -> Bool { a.rawValue < b.rawValue }
  }

  /// From the beginning of one to the next.
  public static let interval: Duration = .seconds(600)

  private let kind: Kind
  private var last: (caller: Caller, start: Instant)?

  public init(_ kind: Kind) { self.kind = kind }

  /// Throws `not-permitted` or `busy`, with words for a person.
  ///
  /// - Parameter isRunning: there is one of this kind. A parent's sound check takes the place of a guest's.
  public func check(_ caller: Caller, isRunning: Bool, now: Instant) throws(ControlError) {
    let (running, done): (String, String)
    switch kind {
    case .drill:
      guard caller >= .parent else {
        throw ControlError(.notPermitted, "Only a paired device whose access does not expire can start a drill.")
      }
      (running, done) = ("A fire drill is running.", "drill")
    case .soundCheck:
      (running, done) = ("A sound check is running; it takes some seconds.", "sound check")
    }
    let givesWay = kind == .soundCheck && caller >= .parent && last?.caller == .guest
    guard !isRunning || givesWay else { throw ControlError(.busy, running) }
    guard caller < unlimited, let last, now - last.start < Self.interval else { return }
    let minutes = (Self.interval - (now - last.start) + .seconds(59)).nanoseconds / 60_000_000_000
    let who = unlimited == .owner ? "an owner of the camera" : "a parent"
    throw ControlError(.busy, "There was a \(done) a few minutes ago. Try again in \(minutes) min, or ask \(who).")
  }

  /// Who may begin one at any time.
  private var unlimited: Caller { kind == .drill ? .owner : .parent }

  public mutating func recordStart(by caller: Caller, now: Instant) { last = (caller, now) }
}
