/// Counts what passes through relays in a night, from noon to noon by the local clock, since whoever runs a relay pays for it.
/// After a restart it counts from then on.
struct RelayMeter {
  /// The most for all viewers together; nil: no limit.
  let limit: Int?
  private var bytes: UInt64 = 0
  /// The night that is counted, by the number of its first day.
  private var night: Int?

  init(limit: Int?) {
    self.limit = limit
  }

  var isUsedUp: Bool { limit.map { bytes >= UInt64($0) } ?? false }

  /// - Parameter night: a number for the night that is now, another for each.
  mutating func add(_ count: UInt64, night: Int) {
    if self.night != night {
      self.night = night
      bytes = 0
    }
    bytes &+= count
  }
}
