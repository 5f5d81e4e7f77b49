internal import Control
internal import Health
internal import Linux
internal import Monitoring
internal import Storage

/// The checks of `doctor` that may turn out otherwise in the middle of a night, as conditions.
///
/// They read files of /proc and /sys, and may hang with a disk that does: run it on a thread of its own.
struct HealthProbe {
  private let files: SystemFiles
  private let stateDirectory: String
  /// That the child writes.
  private let directories: [String]
  /// Found already, so that what is over counts once.
  private var past: Set<HealthLog.Concern> = []

  /// - Parameter recordings: the folder for recordings, if it is elsewhere.
  init(stateDirectory: String, recordings: String? = nil, files: SystemFiles = SystemFiles()) {
    self.stateDirectory = stateDirectory
    directories = StateDirectory.writtenDirectories(stateDirectory) + [recordings].compactMap(\.self)
    self.files = files
  }

  /// - Parameter unixSeconds: the wall clock.
  mutating func run(
    unixSeconds: Int64, space: DiskCheck.Space?, clock: ClockCheck.Kernel = ClockCheck.kernel
  ) -> [HealthLog.Condition] {
    var findings: [(HealthLog.Concern, Finding)] = [
      (.storage, DiskCheck.run(path: stateDirectory, space: space)),
      (.clock, ClockCheck.run(clock, unixSeconds: unixSeconds)),
    ]
    findings += WirelessCheck.signals(files).map { (.wireless, $0) }
    findings += DirectoryCheck.run(directories, account: .own, files: files).map { (.storage, $0) }
    if let power = PowerCheck.run(files) { findings.append((.power, power)) }
    if let temperature = TemperatureCheck.run(files) { findings.append((.temperature, temperature)) }
    return findings.reduce(into: []) { conditions, found in
      // A read-only disk is found twice.
      guard let condition = condition(found.0, found.1), !conditions.contains(condition) else { return }
      conditions.append(condition)
    }
  }

  /// For the state directory.
  mutating func run(unixSeconds: Int64) -> [HealthLog.Condition] {
    run(unixSeconds: unixSeconds, space: DiskCheck.space(at: stateDirectory))
  }

  private mutating func condition(_ concern: HealthLog.Concern, _ finding: Finding) -> HealthLog.Condition? {
    switch finding.state {
    case .ok, .unknown: return nil
    case .warning:
      guard finding.isPast else { return HealthLog.Condition(concern, .notice, finding.detail) }
      return past.insert(concern).inserted ? HealthLog.Condition(concern, .notice, finding.detail) : nil
    case .problem:
      // The firmware remembers it, and would tell it again as past.
      past.insert(concern)
      return HealthLog.Condition(concern, .warning, finding.detail)
    }
  }
}
