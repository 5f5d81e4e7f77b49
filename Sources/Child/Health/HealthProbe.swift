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
  private let recording: ChildConfiguration.Recording
  /// Found already, so that what is over counts once.
  private var past: Set<HealthLog.Concern> = []

  init(
    stateDirectory: String, recording: ChildConfiguration.Recording = ChildConfiguration.defaults.recording,
    files: SystemFiles = SystemFiles()
  ) {
    self.stateDirectory = stateDirectory
    self.recording = recording
    directories = StateDirectory.writtenDirectories(stateDirectory) + [recording.folder].compactMap(\.self)
    self.files = files
  }

  /// - Parameters:
  ///   - unixSeconds: the wall clock.
  ///   - space: of the file system at a path.
  mutating func run(
    unixSeconds: Int64, space: (String) -> DiskCheck.Space?, clock: ClockCheck.Kernel = ClockCheck.kernel
  ) -> [HealthLog.Condition] {
    var findings: [(HealthLog.Concern, Finding)] = RoomCheck.run(
      stateDirectory: stateDirectory, recording: recording, space: space
    ).map { (.storage, $0) }
    findings.append((.clock, ClockCheck.run(clock, unixSeconds: unixSeconds)))
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

  /// For this machine's disks.
  mutating func run(unixSeconds: Int64) -> [HealthLog.Condition] {
    run(unixSeconds: unixSeconds, space: DiskCheck.space)
  }

  private mutating func condition(_ concern: HealthLog.Concern, _ finding: Finding) -> HealthLog.Condition? {
    switch finding.state {
    case .ok, .unknown: return nil
    case .warning:
      guard finding.isPast else { return HealthLog.Condition(concern, .notice, finding.detail) }
      return past.insert(concern).inserted ? HealthLog.Condition(concern, .notice, finding.detail) : nil
    case .problem:
      // The firmware remembers it, and would report it again as past.
      past.insert(concern)
      return HealthLog.Condition(concern, .warning, finding.detail)
    }
  }
}
