public import Wire

/// Decides by the brightness of a camera's picture whether it is night, which switches its infrared lamp.
///
/// The lamp lights the picture that it is switched by. So the return to day does not ask for a brightness alone: it asks
/// for clearly more than there was soon after the switch, when the lamp and the camera's exposure had settled. Both
/// directions have to hold for a while, and changes are at least a minute apart, whatever happens in the room.
public struct NightSwitch: Sendable {
  /// Brightness is the mean of luma, 0 (black, 16) to 1 (white, 235).
  public struct Limits: Hashable, Sendable {
    /// Below this it is dark. A camera whose automatic exposure has nothing left to give falls below; a lit room is far
    /// above.
    public var dark = 0.10
    /// Day needs at least this much.
    public var light = 0.30
    /// Day needs this much more than the lamp alone gave, or half of what is left to white.
    public var rise = 0.20
    /// The dark has to last: a hand before the lens does not.
    public var darkFor: Duration = .seconds(10)
    /// So has the light: headlights pass, and an open door closes again.
    public var lightFor: Duration = .seconds(30)
    /// Between two changes.
    public var spacing: Duration = .seconds(60)
    /// What lamp and automatic exposure take after a change.
    public var settling: Duration = .seconds(6)
    /// How long the brightness is then averaged.
    public var learning: Duration = .seconds(4)
    /// What the lamp gives is taken to be less when the picture gets darker, as much as this each minute: so something
    /// that happened to be bright while it was learned is forgotten, and somebody before the lamp is not taken for less lamp.
    public var fallPerMinute = 0.01
    /// After a longer time without a picture nothing is known to have lasted. Longer than between two samples while nobody
    /// watches.
    public var gap: Duration = .seconds(15)

    public init() {}
  }

  private enum Lit: Sendable {
    /// Nothing is learned before that time.
    case settling(until: Instant)
    case learning(sum: Double, count: Int, until: Instant)
    case known(Double)
  }

  public private(set) var isNight = false
  private let limits: Limits
  private var lit = Lit.known(0)
  private var wasLampLit = false
  /// When it last changed; nil before the first change, which need not wait.
  private var changed: Instant?
  private var lastSample: Instant?
  /// Since when the brightness asks for a change.
  private var since: Instant?

  public init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Takes one measurement, about each second while somebody watches.
  ///
  /// - Parameters:
  ///   - brightness: 0...1; anything else is taken as the nearest end, and what is not a number is ignored.
  ///   - isLampLit: whether the lamp shines as far as is known. What it gives is learned again when that changes.
  /// - Returns: whether `isNight` has changed.
  public mutating func observe(brightness: Double, isLampLit: Bool, now: Instant) -> Bool {
    guard !brightness.isNaN else { return false }
    let brightness = min(max(brightness, 0), 1)
    let passed = lastSample.map { now - $0 }
    if let passed, passed > limits.gap || passed < .zero { since = nil }
    lastSample = now
    if isLampLit != wasLampLit, isNight { lit = .settling(until: now + limits.settling) }
    wasLampLit = isLampLit
    let asksForChange: Bool
    if isNight {
      learn(brightness, passed: passed ?? .zero, now: now)
      asksForChange = dayLimit.map { brightness >= $0 } ?? false
    } else {
      asksForChange = brightness < limits.dark
    }
    guard asksForChange else {
      since = nil
      return false
    }
    let began = since ?? now
    since = began
    guard now - began >= (isNight ? limits.lightFor : limits.darkFor) else { return false }
    if let changed, now - changed < limits.spacing { return false }
    isNight.toggle()
    changed = now
    since = nil
    wasLampLit = false
    if isNight { lit = .settling(until: now + limits.settling) }
    return true
  }

  /// What the picture has to reach for the day; nil while that is being learned.
  public var dayLimit: Double? {
    guard case .known(let level) = lit else { return nil }
    return max(limits.light, min(level + limits.rise, (level + 1) / 2))
  }

  private mutating func learn(_ brightness: Double, passed: Duration, now: Instant) {
    switch lit {
    case .settling(let until):
      guard now >= until else { return }
      // While nobody watches, a single sample may be all there is.
      lit = .learning(sum: brightness, count: 1, until: until + limits.learning)
    case .learning(let sum, let count, let until):
      lit = .learning(sum: sum + brightness, count: count + 1, until: until)
    case .known(let level):
      let minutes = min(passed, limits.gap).inSeconds / 60
      if brightness < level { lit = .known(max(brightness, level - limits.fallPerMinute * minutes)) }
    }
    if case .learning(let sum, let count, let until) = lit, now >= until { lit = .known(sum / Double(count)) }
  }
}
