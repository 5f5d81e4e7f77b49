internal import Devices
internal import Wire

/// Decides when the program has to be restarted because of a device that is there and fails again and again: drivers and
/// libraries keep things that only the end of a process frees.
///
/// Only a device that has worked in this process counts, so that a broken one costs one restart.
struct LastResort {
  enum State: Hashable, Sendable {
    case working
    /// Not plugged in, in use by another program, refused: another process would not have it either.
    case absent
    /// It is there and fails.
    case failing
  }

  private struct Known {
    var hasWorked = false
    var failingSince: Instant?
  }

  /// Reopening comes first: a dozen times at least.
  static let patience: Duration = .seconds(300)

  private var known: [String: Known] = [:]

  /// - Parameter devices: by their names for the log.
  /// - Returns: the device because of which to restart.
  mutating func note(_ devices: [(name: String, state: State)], now: Instant) -> String? {
    var failing: String?
    for device in devices {
      var entry = known[device.name] ?? Known()
      switch device.state {
      case .working: entry = Known(hasWorked: true)
      case .absent: entry.failingSince = nil
      case .failing:
        let since = entry.failingSince ?? now
        entry.failingSince = since
        if entry.hasWorked, now - since >= Self.patience { failing = failing ?? device.name }
      }
      known[device.name] = entry
    }
    return failing
  }
}

extension LastResort.State {
  init(_ status: DeviceStatus<some Sendable>) {
    switch status {
    case .off: self = .absent
    // Opening takes its time after a failure, too.
    case .opening: self = .absent
    case .running: self = .working
    case .missing(let error):
      switch error.reason {
      case .silent, .frozen, .digitalSilence, .damaged, .wrongRate, .program, .io, .unsupportedFormat: self = .failing
      case .notFound, .busy, .permissionDenied, .disconnected, .invalidFile, .notDimmable: self = .absent
      }
    }
  }
}
