import ArgumentParser
import Child
import Foundation
import Storage

/// Where a daemon keeps its things; the same flags for `run` and for the commands that talk to it.
struct DirectoryOptions: ParsableArguments {
  @Option(help: "Configuration file. (default: /etc/cradle/child.yaml if it is there)")
  var config: String?

  @Option(help: "Identity, pairs and tokens. (default: $STATE_DIRECTORY, else /var/lib/cradle)")
  var stateDirectory: String?

  @Option(help: "The socket of the commands. (default: $RUNTIME_DIRECTORY, else /run/cradle)")
  var runtimeDirectory: String?

  static let defaultConfiguration = "/etc/cradle/child.yaml"

  var state: String { stateDirectory ?? environment("STATE_DIRECTORY") ?? "/var/lib/cradle" }
  var runtime: String { runtimeDirectory ?? environment("RUNTIME_DIRECTORY") ?? "/run/cradle" }

  /// systemd gives a colon-separated list; ours is the first.
  private func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.split(separator: ":").first.map(String.init) }
  }

  /// The configuration file's content; defaults when none was named and the default one does not exist.
  func loadConfiguration() throws -> ChildConfiguration {
    let path = config ?? Self.defaultConfiguration
    if config == nil, !FileManager.default.fileExists(atPath: path) { return ChildConfiguration() }
    do {
      return try ChildConfiguration.load(path: path)
    } catch let error as ConfigurationErrors {
      throw Failure.badConfiguration("\(error)")
    }
  }
}

/// Flags of `run` and `check` that stand above the file.
struct OverrideOptions: ParsableArguments {
  @Option(help: "What parents see.")
  var name: String?

  @Option(help: "HTTPS address and port, for example [::]:8443; port 0 takes a free one.")
  var listen: String?

  @Option(help: "auto, test, /dev/video0, /dev/v4l/by-id/… or file:CLIP.y4m.")
  var camera: String?

  @Option(help: "auto, none, test, an ALSA PCM name or file:CLIP.wav.")
  var microphone: String?

  @Option(help: "auto, none, null, an ALSA PCM name or file:OUT.wav.")
  var speaker: String?

  @Option(help: "none, simulated, gpio:/dev/gpiochip0/17 or led:/sys/class/leds/NAME.")
  var light: String?

  /// The configuration with these flags applied; a flag that makes no sense is an error of usage.
  func apply(to configuration: ChildConfiguration) throws -> ChildConfiguration {
    var result = configuration
    do {
      try result.override(
        name: name, listen: listen, camera: camera, microphone: microphone, speaker: speaker, light: light)
    } catch let error as ConfigurationErrors {
      throw Failure.badConfiguration("\(error)")
    }
    return result
  }
}
