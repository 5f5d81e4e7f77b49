public import Wire

/// What one light is to do: on and off, brightness, going out by itself, flashing.
///
/// The shell drives a device with what `poll` gives, calls `handleTimeout` at `nextDeadline`, and says when the device
/// is gone or back.
public struct LightController: Sendable {
  public let id: String
  /// Whether anything lies between on and off. A GPIO line knows the two alone.
  public let isDimmable: Bool
  /// Percent: how the light is before the first command and after the last.
  public let restLevel: Int

  private var isOn: Bool
  /// Percent, 1...100: what "on" means. Kept while the light is off, so that it comes back as dim as it was.
  private var brightness: Int
  private var offAt: Instant?
  private var flash: Flash?
  private var isPresent = true
  private var givenLevel: Int?

  /// A pattern over what the light was: first the opposite, then back, and so on. It ends where it would go back for
  /// the last time.
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

  /// - Parameters:
  ///   - id: as commands name it.
  ///   - restLevel: percent; for a light that cannot be dimmed anything above 0 is on.
  public init(id: String, isDimmable: Bool, restLevel: Int = 0) {
    self.id = id
    self.isDimmable = isDimmable
    let level = ControlLimits.brightness.nearest(to: restLevel)
    self.restLevel = isDimmable || level == 0 ? level : 100
    isOn = self.restLevel > 0
    brightness = isOn ? self.restLevel : 100
  }

  // MARK: Commands

  /// `light.set`. A setting ends a flash pattern, and the time of an earlier one no longer counts.
  ///
  /// Throws `unavailable` when the device is gone, or a brightness is asked of a light that has none.
  public mutating func set(_ setting: LightSetting, now: Instant) throws(ControlError) {
    try requireDevice()
    if setting.brightness != nil, !isDimmable {
      throw ControlError(.unavailable, "The light \"\(id)\" can be switched, but not dimmed.")
    }
    handleTimeout(now: now)
    flash = nil
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
    offAt = isOn ? setting.seconds.map { now + .seconds($0) } : nil
  }

  /// `light.flash`. Afterwards the light is as it was before the first of several patterns. Throws `unavailable` when
  /// the device is gone.
  public mutating func flash(_ pattern: LightFlash, now: Instant) throws(ControlError) {
    try requireDevice()
    handleTimeout(now: now)
    let milliseconds = pattern.milliseconds ?? ControlDefaults.flashMilliseconds
    let times = pattern.times ?? ControlDefaults.flashTimes
    flash = Flash(
      start: now, interval: .milliseconds(ControlLimits.flashMilliseconds.nearest(to: milliseconds)),
      times: ControlLimits.flashTimes.nearest(to: times), startsLit: !isOn)
  }

  /// The program ends: the light goes back to how it was configured.
  public mutating func restore() {
    flash = nil
    offAt = nil
    isOn = restLevel > 0
    if isOn { brightness = restLevel }
  }

  private func requireDevice() throws(ControlError) {
    guard !isPresent else { return }
    throw ControlError(.unavailable, "The light \"\(id)\" does not answer; is it connected?")
  }

  // MARK: The device

  /// Whether the device can be driven. Time goes on while it is gone; when it is back it gets the level of then.
  public mutating func setPresent(_ present: Bool) {
    isPresent = present
    givenLevel = nil
  }

  /// The level that the device is to take now, in percent; nil when it has it already or is gone.
  public mutating func poll() -> Int? {
    let level = flash?.isLit ?? isOn ? brightness : 0
    guard isPresent, level != givenLevel else { return nil }
    givenLevel = level
    return level
  }

  // MARK: Time

  public var nextDeadline: Instant? {
    [offAt, flash?.nextPhaseAt].compactMap(\.self).min()
  }

  public mutating func handleTimeout(now: Instant) {
    if let end = offAt, end <= now {
      isOn = false
      offAt = nil
    }
    flash?.advance(to: now)
    if flash?.isOver == true { flash = nil }
  }

  public var state: LightState {
    let word: LightDocument.State =
      if !isPresent { .missing } else if flash != nil { .flashing } else { isOn ? .on : .off }
    return LightState(id: id, word: word, brightness: brightness, isDimmable: isDimmable, offAt: offAt)
  }
}

/// How a light is, in terms that do not change by time passing alone.
public struct LightState: Hashable, Sendable {
  var id: String
  var word: LightDocument.State
  var brightness: Int
  var isDimmable: Bool
  var offAt: Instant?

  public func document(now: Instant) -> LightDocument {
    LightDocument(
      id: id, state: word, brightness: brightness, dimmable: isDimmable,
      remainingSeconds: offAt.map { remainingSeconds(until: $0, now: now) })
  }
}

/// Whole seconds, rounded up, so that 0 means that it is over.
func remainingSeconds(until end: Instant, now: Instant) -> Int {
  Int(saturating: max(0, (end - now).inSeconds.rounded(.up)))
}
