internal import DeviceNames
internal import Frames
internal import Glibc
public import Health
internal import Linux
public import Storage
internal import Wire

/// `cradle-child doctor`: checks everything a night's monitoring depends on, even while the daemon is running.
public struct Doctor: Sendable {
  private let configuration: ChildConfiguration
  private let source: String
  private let stateDirectory: String
  private let daemon: RunningDaemon
  private let files = SystemFiles()

  /// - Parameters:
  ///   - source: where the configuration comes from, for display.
  public init(
    configuration: ChildConfiguration, source: String, stateDirectory: String, daemon: RunningDaemon
  ) {
    self.configuration = configuration
    self.source = source
    self.stateDirectory = stateDirectory
    self.daemon = daemon
  }

  /// Most labels of the findings, for column widths.
  public var labels: [String] {
    ["state directory", "from elsewhere"] + configuration.cameras.map { "camera \($0.id)" }
      + configuration.lights.map { "light \($0.id)" }
      + configuration.cameras.filter { $0.infrared != .off }.map { "infrared \($0.id)" }
  }

  /// Runs the checks and reports each finding as it comes.
  ///
  /// - Parameters:
  ///   - looking: called with what is checked next, for progress output.
  public func run(looking: (String) -> Void, found: (Finding) -> Void) async {
    let user = account.name(files)
    found(daemon.finding(version: ChildNode.version))
    found(Finding("configuration", .ok, source))
    looking("the cameras")
    CameraCheck.run(configuration, daemon: daemon, user: user).forEach(found)
    looking("microphone and speaker")
    found(SoundCheck.microphone(configuration.microphone.device, daemon: daemon, user: user))
    found(SoundCheck.speaker(configuration.speaker.device, daemon: daemon, user: user, files: files))
    ReadinessCheck.lullabies(configuration.lullabies).forEach(found)
    ScheduleCheck.run(configuration).forEach(found)
    LightCheck.run(configuration.lights, cameras: configuration.cameras, daemon: daemon, files: files).forEach(found)
    found(PermissionCheck.run(configuration, account: account, files: files))
    state().forEach(found)
    DirectoryCheck.run(
      StateDirectory.writtenDirectories(stateDirectory) + [configuration.recording.folder].compactMap(\.self),
      account: account, files: files
    ).forEach(found)
    if daemon.report?.hasOwner == false {
      found(
        Finding(
          "owner", .warning, "nobody owns this camera: no device that was paired and used may let others in",
          remedy: "cradle-child pair --admin"))
    }
    if let contact = PushContactCheck.run(configuration.push, stateDirectory: stateDirectory) { found(contact) }
    CertificateCheck.run(configuration, report: daemon.certificate).forEach(found)
    found(NetworkCheck.run(listen: configuration.listen.host))
    NamedFilesCheck.notifiers(configuration.notifiers).forEach(found)
    if let push = NamedFilesCheck.push(configuration.push) { found(push) }
    PortCheck.run(configuration, daemon: daemon, files: files).forEach(found)
    found(
      FirewallCheck.run(
        port: daemon.report?.port ?? Int(configuration.listen.port),
        rtspPort: configuration.rtsp.isEnabled
          ? daemon.report?.rtspPort ?? Int(configuration.rtsp.listen.port) : nil, mediaPorts: configuration.mediaPorts,
        listing: FirewallCheck.listing(), files: files))
    looking("Avahi")
    found(await AvahiCheck.run(id: daemon.report?.id))
    found(ClockCheck.run(unixSeconds: MonotonicClock.unixSeconds))
    RoomCheck.run(stateDirectory: stateDirectory, recording: configuration.recording).forEach(found)
    found(MemoryCheck.run(files))
    WirelessCheck.run(files).forEach(found)
    if let power = PowerCheck.run(files) { found(power) }
    if let temperature = TemperatureCheck.run(files) { found(temperature) }
    let away = AwayCheck(configuration: configuration, child: daemon.report?.id, report: daemon.away)
    await away.run(looking: looking, found: found)
    looking("the encoder")
    EncoderCheck.run(configuration, daemon: daemon).forEach(found)
  }

  /// The account the daemon runs as. If it is stopped and we are root: the owner of its state, as root may do more.
  private var account: Account {
    if let process = daemon.process, let account = Account(process: process, files: files) { return account }
    return .daemon(stateDirectory, files)
  }

  /// Checks owner and mode first, and the contents only if this user may read them.
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
