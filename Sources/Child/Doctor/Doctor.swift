internal import Frames
internal import Glibc
public import Health
public import Storage
internal import Wire

/// What `cradle-child doctor` looks at: everything that a night with the child hangs on, beside a running daemon too.
public struct Doctor: Sendable {
  private let configuration: ChildConfiguration
  private let source: String
  private let stateDirectory: String
  private let daemon: RunningDaemon
  private let files = SystemFiles()

  /// - Parameters:
  ///   - source: where the configuration is from, for people.
  public init(
    configuration: ChildConfiguration, source: String, stateDirectory: String, daemon: RunningDaemon
  ) {
    self.configuration = configuration
    self.source = source
    self.stateDirectory = stateDirectory
    self.daemon = daemon
  }

  /// What the findings will be about, roughly: for columns.
  public var labels: [String] {
    ["state directory"] + configuration.cameras.map { "camera \($0.id)" }
      + configuration.lights.map { "light \($0.id)" }
  }

  /// Looks, and tells what it finds one after the other.
  ///
  /// - Parameters:
  ///   - looking: what comes next, for whoever waits.
  public func run(looking: (String) -> Void, found: (Finding) -> Void) async {
    let user = account.name(files)
    found(daemon.finding(version: ChildNode.version))
    found(Finding("configuration", .ok, source))
    looking("the cameras")
    CameraCheck.run(configuration, daemon: daemon, user: user).forEach(found)
    looking("microphone and speaker")
    found(SoundCheck.microphone(configuration.microphone.device, daemon: daemon, user: user))
    found(SoundCheck.speaker(configuration.speaker.device, daemon: daemon, user: user, files: files))
    LightCheck.run(configuration.lights, daemon: daemon, files: files).forEach(found)
    found(PermissionCheck.run(configuration, account: account, files: files))
    state().forEach(found)
    PortCheck.run(configuration, daemon: daemon, files: files).forEach(found)
    found(
      FirewallCheck.run(
        port: daemon.report?.port ?? Int(configuration.listen.port), mediaPorts: configuration.mediaPorts,
        listing: FirewallCheck.listing(), files: files))
    looking("Avahi")
    found(await AvahiCheck.run(id: daemon.report?.id))
    found(ClockCheck.run(unixSeconds: MonotonicClock.unixNanoseconds / 1_000_000_000))
    found(DiskCheck.run(path: stateDirectory, space: DiskCheck.space(at: stateDirectory)))
    found(MemoryCheck.run(files))
    WirelessCheck.run(files).forEach(found)
    if let power = PowerCheck.run(files) { found(power) }
    if let temperature = TemperatureCheck.run(files) { found(temperature) }
    looking("the encoder")
    EncoderCheck.run(configuration, daemon: daemon).forEach(found)
  }

  /// Whom the daemon runs as; while it does not, whoever owns its state, for root may do more than it.
  private var account: Account {
    if let process = daemon.process, let account = Account(process: process, files: files) { return account }
    let own = Account.own
    guard own.id == 0, let owner = files.status(stateDirectory)?.owner, owner != 0 else { return own }
    return Account(id: owner, files: files) ?? own
  }

  /// Owner and mode first; what is in the files only when this user may read them.
  private func state() -> [Finding] {
    let findings = KeyFileCheck.run(
      directory: stateDirectory, names: StateDirectory.privateFiles,
      user: daemon.process == nil ? nil : account.id, files: files)
    guard !findings.contains(where: { $0.state == .unknown }) else { return findings }
    do {
      _ = try ReadinessCheck.stores(stateDirectory)
      return findings
    } catch {
      return findings + [
        Finding("state files", .problem, "\(error)", remedy: "Restore the file from a copy, or move it away.")
      ]
    }
  }
}
