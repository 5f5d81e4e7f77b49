/// What a device has delivered too damaged to be used, so that it was dropped.
public struct Damage: Hashable, Sendable {
  /// Since the device was opened.
  public var dropped: UInt64 = 0
  /// Share of the last hundred, 0...100.
  public var percent = 0

  public init() {}
}

/// Counts damage over the last hundred elements.
struct DamageMeter: Sendable {
  private(set) var damage = Damage()
  private var recent: [Bool] = []
  private var next = 0

  private static let window = 100

  mutating func add(isDamaged: Bool) {
    if isDamaged { damage.dropped += 1 }
    if recent.count < Self.window {
      recent.append(isDamaged)
    } else {
      recent[next] = isDamaged
      next = (next + 1) % Self.window
    }
    damage.percent = recent.count(where: \.self) * 100 / recent.count
  }
}
