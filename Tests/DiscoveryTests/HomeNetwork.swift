import Foundation
import TestSupport

/// Two machines on one cable, each with a message bus and an Avahi daemon of its own. Nothing leaves them. Needs root.
final class HomeNetwork {
  let nursery: Host
  let kitchen: Host

  init(hostNames: (String, String) = ("nursery", "kitchen")) throws {
    let (first, second) = (try Host(name: hostNames.0), try Host(name: hostNames.1))
    (nursery, kitchen) = (first, second)
    try Host.ip(
      "link", "add", "cable", "netns", first.namespace, "type", "veth", "peer", "name", "cable", "netns",
      second.namespace)
    for (host, last) in [(first, 1), (second, 2)] {
      try host.ip("addr", "add", "10.77.3.\(last)/24", "dev", "cable")
      try host.ip("addr", "add", "fd77:3::\(last)/64", "dev", "cable", "nodad")
      try host.ip("link", "set", "cable", "up")
    }
  }

  func startDaemons() throws {
    for host in [nursery, kitchen] {
      try host.startBus()
      try host.startAvahi()
    }
  }
}

/// One machine: a network namespace.
final class Host {
  let namespace = "cradle-d-\(UInt32.random(in: 0...UInt32.max))"
  private let name: String
  private let folder: URL
  private var bus: SpawnedProcess?
  private var avahi: SpawnedProcess?

  init(name: String) throws {
    self.name = name
    folder = FileManager.default.temporaryDirectory.appending(path: namespace)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.ip("netns", "add", namespace)
    try ip("link", "set", "lo", "up")
  }

  deinit {
    stopAvahi()
    stopBus()
    try? Self.ip("netns", "delete", namespace)
    try? FileManager.default.removeItem(at: folder)
  }

  var log: String {
    (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
  }

  /// `ip` on this machine.
  func ip(_ arguments: String...) throws {
    try Self.run(["ip", "-n", namespace] + arguments)
  }

  static func ip(_ arguments: String...) throws {
    try run(["ip"] + arguments)
  }

  /// A message bus that everybody may use, instead of the system's.
  func startBus() throws {
    let configuration = folder.appending(path: "bus.conf")
    try """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>system</type>
      <listen>\(busAddress)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
      </policy>
    </busconfig>
    """.write(to: configuration, atomically: true, encoding: .utf8)
    bus = try start(["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(configuration.path)"])
  }

  func stopBus() {
    bus?.stop(with: SIGTERM)
    bus = nil
    try? FileManager.default.removeItem(atPath: busSocket)
  }

  /// A mount namespace gives each daemon a /run of its own. The bus has to be there; it is tried until it is.
  func startAvahi() throws {
    let configuration = folder.appending(path: "avahi.conf")
    try """
    [server]
    host-name=\(name)
    use-ipv4=yes
    use-ipv6=yes
    ratelimit-interval-usec=0
    [wide-area]
    enable-wide-area=no
    [publish]
    publish-hinfo=no
    publish-workstation=no
    """.write(to: configuration, atomically: true, encoding: .utf8)
    let script = """
      mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon || exit 1
      for try in $(seq 100); do [ -S '\(busSocket)' ] && break; sleep 0.1; done
      exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f '\(configuration.path)'
      """
    avahi = try start(["unshare", "--mount", "sh", "-c", script])
  }

  func stopAvahi(with signal: Int32 = SIGTERM) {
    avahi?.stop(with: signal)
    avahi = nil
  }

  /// Starts a program on this machine, with its bus. What it writes goes to the log where nothing else is named.
  func start(_ command: [String], input: Int32? = nil, output: Int32? = nil) throws -> SpawnedProcess {
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let log = open(folder.appending(path: "log").path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer {
      close(nothing)
      close(log)
    }
    return try SpawnedProcess(
      ["ip", "netns", "exec", namespace] + command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": busAddress],
      input: input ?? nothing, output: output ?? log, errors: log)
  }

  private var busSocket: String { folder.appending(path: "bus").path }
  private var busAddress: String { "unix:path=\(busSocket)" }

  private static func run(_ command: [String]) throws {
    let process = try SpawnedProcess(command, input: 0, output: 1, errors: 2)
    guard process.wait() == 0 else { throw SpawnedProcess.Problem(description: "\(command) failed") }
  }
}
