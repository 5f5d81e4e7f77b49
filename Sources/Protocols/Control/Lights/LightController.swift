public import Wire

/// The state of one light: on or off, brightness, switch-off timer, flash pattern.
///
/// The shell drives the device with the levels from `poll`, calls `handleTimeout` at `nextDeadline`, and reports when
/// the device disappears or comes back.
///
/// No combination of commands makes the light flash more than three times in any one second (WCAG 2.3.1). A flash is a
/// pair of opposing changes, so `poll` returns at most six changes a second. Faster commands are not lost: the light
/// takes the latest level as soon as it may.
public struct LightController: Sendable {
  public let id: String
  /// Whether there are levels between on and off. A GPIO line has none.
  public private(set) var isDimmable: Bool

  private var isOn = false
  /// Percent, 1...100: the level when on. Kept while the light is off, so that it comes back as dim as it was.
  private var brightness: Int
  private var offAt: Instant?
  /// What the timer that ends at `offAt` was set to, in seconds.
  private var timerSeconds: Int?
  private var flash: Flash?
  private var isPresent = true
  private var givenLevel: Int?
  /// When the level was last changed, oldest first; at most `maximumChanges`.
  private var changes: [Instant] = []
  /// The latest time passed to any call.
  private var now: Instant = .zero

  /// WCAG 2.3.1: three flashes of two changes each, in any one second.
  private static let maximumChanges = 6
  private static let changeWindow = Duration.seconds(1)

  /// A pattern that alternates between the opposite of the current state and the state itself. It ends when the light
  /// returns to its state for the last time.
  private struct Flash: Hashable {
    var start: Instant
    var interval: Duration
    var times: Int
    var startsLit: Bool
    var phase = 0

    var isLit: Bool { phase.isMultiple(of: 2) == startsLit }
    var nextPhaseAt: Instant { start + interval * (phase + 1) }
    var isOver: Bool { phase >= 2 * times - 1 }

    mutating func advance(to now: Instant) {
      let passed = (now - start).nanoseconds / interval.nanoseconds
      phase = max(phase, Int(clamping: passed))
    }
  }

  /// - Parameter id: the name used in commands.
  public init(id: String, isDimmable: Bool) {
    self.id = id
    self.isDimmable = isDimmable
    brightness = Self.firstBrightness(isDimmable: isDimmable)
  }

  private static func firstBrightness(isDimmable: Bool) -> Int { isDimmable ? ControlDefaults.brightness : 100 }

  // MARK: Commands

  /// `light.set`. Ends a flash pattern and cancels an earlier switch-off timer; a brightness for a light that is on keeps
  /// the timer.
  ///
  /// Throws `unavailable` when the device is missing, or a brightness is set on a light that cannot be dimmed.
  public mutating func set(_ setting: LightSet, now: Instant) throws(ControlError) {
    try requireDevice()
    if setting.brightness != nil, !isDimmable {
      throw ControlError(.unavailable, "The light \"\(id)\" can be switched, but not dimmed.")
    }
    handleTimeout(now: now)
    flash = nil
    let keepsTimer = isOn && setting.brightness != nil && setting.seconds == nil
    isOn =
      switch setting.state {
      case .on: true
      case .off: false
      case .toggle: !isOn
      }
    if isOn, let level = setting.brightness {
      isOn = level > 0
      if isOn { brightness = ControlLimits.brightness.nearest(to: level) }
    }
    if isOn, keepsTimer { return }
    timerSeconds = isOn ? setting.seconds : nil
    offAt = timerSeconds.map { now + .seconds($0) }
  }

  /// `light.flash`. The light then returns to its previous state; a pattern that replaces another one keeps that state.
  /// Throws `unavailable` when the device is missing.
  public mutating func flash(_ pattern: LightFlash, now: Instant) throws(ControlError) {
    try requireDevice()
    handleTimeout(now: now)
    let milliseconds = pattern.milliseconds ?? ControlDefaults.flashMilliseconds
    let times = pattern.times ?? ControlDefaults.flashTimes
    flash = Flash(
      start: now, interval: .milliseconds(ControlLimits.flashMilliseconds.nearest(to: milliseconds)),
      times: ControlLimits.flashTimes.nearest(to: times), startsLit: !isOn)
  }

  /// The program ends: the light goes out.
  public mutating func restore() {
    flash = nil
    offAt = nil
    timerSeconds = nil
    isOn = false
    // This change cannot be made later, so it is not held back.
    changes = []
  }

  private func requireDevice() throws(ControlError) {
    guard !isPresent else { return }
    throw ControlError(.unavailable, "The light \"\(id)\" does not answer; is it connected?")
  }

  // MARK: The device

  /// Sets whether the device can be driven. Timers keep running while it is missing; once back, it gets the current
  /// level.
  ///
  /// - Parameter isDimmable: nil when unknown. A light that was missing at startup may turn out not to be dimmable.
  public mutating func setPresent(_ present: Bool, isDimmable: Bool? = nil) {
    isPresent = present
    givenLevel = nil
    guard let isDimmable, isDimmable != self.isDimmable else { return }
    self.isDimmable = isDimmable
    brightness = Self.firstBrightness(isDimmable: isDimmable)
  }

  /// The level to drive the device to, in percent, as of the latest time passed to any call. Nil when the device
  /// already has that level, is missing, or has changed too often within the last second.
  public mutating func poll() -> Int? {
    guard isPresent, wantedLevel != givenLevel, !isHeldBack else { return nil }
    if changes.count == Self.maximumChanges { changes.removeFirst() }
    changes.append(now)
    givenLevel = wantedLevel
    return givenLevel
  }

  private var wantedLevel: Int { flash?.isLit ?? isOn ? brightness : 0 }

  /// When the next change is allowed; nil: at any time.
  private var nextChangeAt: Instant? {
    changes.count < Self.maximumChanges ? nil : changes.first.map { $0 + Self.changeWindow }
  }

  private var isHeldBack: Bool { nextChangeAt.map { $0 > now } ?? false }

  // MARK: Time

  public var nextDeadline: Instant? {
    let heldBack = isPresent && wantedLevel != givenLevel && isHeldBack ? nextChangeAt : nil
    return [offAt, flash?.nextPhaseAt, heldBack].compactMap(\.self).min()
  }

  public mutating func handleTimeout(now: Instant) {
    self.now = max(self.now, now)
    if let end = offAt, end <= now {
      isOn = false
      offAt = nil
      timerSeconds = nil
    }
    flash?.advance(to: now)
    if flash?.isOver == true { flash = nil }
  }

  public var state: LightState {
    let word: LightDocument.State =
      if !isPresent { .missing } else if flash != nil { .flashing } else { isOn ? .on : .off }
    return LightState(
      id: id, word: word, brightness: brightness, isDimmable: isDimmable, offAt: offAt, timerSeconds: timerSeconds)
  }
}

/// The state of a light in terms that do not change merely because time passes.
public struct LightState: Hashable, Sendable {
  var id: String
  var word: LightDocument.State
  var brightness: Int
  var isDimmable: Bool
  var offAt: Instant?
  var timerSeconds: Int?

  public func document(now: Instant) -> LightDocument {
    LightDocument(
      id: id, state: word, brightness: brightness, dimmable: isDimmable,
      remainingSeconds: offAt.map { remainingSeconds(until: $0, now: now) }, timerSeconds: timerSeconds)
  }
}

/// Whole seconds, rounded up, so that 0 means over.
func remainingSeconds(until end: Instant, now: Instant) -> Int {
  Int(saturating: max(0, (end - now).inSeconds.rounded(.up)))
}
