import ArgumentParser
import Child
import Commands
internal import DeviceNames
import FoundationEssentials
import Glibc
import Storage

/// The daemon's directories: the same flags for `run` and for the commands that talk to the daemon.
struct DirectoryOptions: ParsableArguments {
  @Option(help: "Configuration file. (default: /etc/cradle/child.yaml if it exists)")
  var config: String?

  @Option(help: "Directory for identity, pairs and tokens. (default: $STATE_DIRECTORY, else /var/lib/cradle)")
  var stateDirectory: String?

  @Option(help: "Directory for the socket that commands use. (default: $RUNTIME_DIRECTORY, else /run/cradle)")
  var runtimeDirectory: String?

  func validate() throws {
    try PathOption.check([
      "--config": config, "--state-directory": stateDirectory, "--runtime-directory": runtimeDirectory,
    ])
  }

  static let defaultConfiguration = "/etc/cradle/child.yaml"

  var state: String { stateDirectory ?? environment("STATE_DIRECTORY") ?? "/var/lib/cradle" }
  var runtime: String { runtimeDirectory ?? environment("RUNTIME_DIRECTORY") ?? "/run/cradle" }

  /// The directory that is named, else the one that the daemon uses, else the default one.
  func state(of daemon: RunningDaemon) -> String { stateDirectory ?? daemon.report?.stateDirectory ?? state }

  /// systemd passes a colon-separated list; the first one is used.
  private func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.split(separator: ":").first.map(String.init) }
  }

  /// The source of the configuration, for people.
  func configurationSource(of daemon: RunningDaemon) -> String { file(of: daemon) ?? "the defaults (no file)" }

  /// The configuration file that is named, else the one that the daemon has read, else the default one where it exists, as an
  /// absolute path.
  func file(of daemon: RunningDaemon? = nil) -> String? {
    guard let path = config ?? daemon?.report?.configurationFile else {
      return access(Self.defaultConfiguration, F_OK) == 0 ? Self.defaultConfiguration : nil
    }
    return absolute(path)
  }

  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// The configuration file's content; defaults when there is none.
  ///
  /// - Parameter daemon: whose configuration is meant, unless one is named.
  func loadConfiguration(of daemon: RunningDaemon? = nil) throws -> ChildConfiguration {
    guard let path = config ?? file(of: daemon) else { return .defaults }
    do {
      if let configuration = try ChildConfiguration.load(path: path) { return configuration }
    } catch {
      throw Failure.badConfiguration("\(error)")
    }
    throw Failure.badConfiguration("\(path): there is no such file")
  }
}

/// Flags of `run` and `check` that override the configuration file.
struct OverrideOptions: ParsableArguments {
  @Option(help: "The baby unit's name, as viewers see it.")
  var name: String?

  @Option(help: "HTTPS address and port, for example [::]:8443; port 0 for any free one.")
  var listen: String?

  @Option(help: "auto, test, /dev/video0, /dev/v4l/by-id/… or file:CLIP.y4m.")
  var camera: String?

  @Option(help: "auto, none, test, an ALSA PCM name or file:CLIP.wav.")
  var microphone: String?

  @Option(help: "auto, none, null, an ALSA PCM name or file:OUT.wav.")
  var speaker: String?

  @Option(help: "none, simulated, gpio:/dev/gpiochip0/17 or led:/sys/class/leds/NAME.")
  var light: String?

  /// The configuration with these flags applied; an invalid flag is a usage error.
  func apply(to configuration: ChildConfiguration) throws -> ChildConfiguration {
    var result = configuration
    if let name {
      guard (1...63).contains(name.utf8.count) else { throw Self.wrong("--name", name, "1 to 63 bytes") }
      result.name = name
    }
    if let listen { result.listen = try Self.parse(listen, "--listen") }
    if let camera {
      let device: VideoDevice = try Self.parse(camera, "--camera")
      if device.kind == .program {
        throw Failure.badConfiguration(
          "--camera \(device): a program to run is taken from the configuration file alone")
      }
      // The flag means this camera only; those of the file are ignored.
      var first = result.cameras.first ?? ChildConfiguration.defaults.cameras[0]
      first.device = device
      result.cameras = [first]
    }
    if let microphone { result.microphone.device = try Self.parse(microphone, "--microphone") }
    if let speaker { result.speaker.device = try Self.parse(speaker, "--speaker") }
    if let light {
      var first = result.lights.first ?? ChildConfiguration.defaults.lights[0]
      first.device = try Self.parse(light, "--light")
      result.lights = [first]
    }
    return result
  }

  private static func parse<Value: ConfigurationText>(_ text: String, _ flag: String) throws -> Value {
    guard let value = Value(text) else { throw wrong(flag, text, Value.allowed) }
    return value
  }

  private static func wrong(_ flag: String, _ text: String, _ allowed: String) -> Failure {
    .badConfiguration("\(flag) \(text): must be \(allowed)")
  }
}
