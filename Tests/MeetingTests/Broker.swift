import Foundation
import Glibc
import Meeting
import SecureTransport
import TestSupport
import Wire

/// A real mosquitto on loopback with the configuration that we ship: only paths and port are others, and there is a second
/// port without TLS.
final class Broker {
  enum Account: String {
    case child, parents
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// Without TLS.
  let port: UInt16
  let tlsPort: UInt16
  /// The CA of its certificate, for 127.0.0.1, in PEM.
  let authorities: String
  private let folder: URL
  private var process: SpawnedProcess?

  private static let samples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "config/mosquitto")

  /// - Parameter isLimited: with the limits of the sizes of messages.
  init(isLimited: Bool = true) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "cradle-broker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = { [folder] (name: String) in folder.appending(path: name).path }
    (port, tlsPort) = (try LocalPort.free(), try LocalPort.free())
    authorities = path("root.pem")
    try Self.makeCertificates(in: folder)
    for account in [Account.child, .parents] {
      let create = account == .child ? ["-c"] : []
      try Self.run(
        ["mosquitto_passwd", "-b"] + create + [path("passwords"), account.rawValue, Self.password(account)])
    }
    var text = try String(contentsOf: Self.samples.appending(path: "cradle.conf"), encoding: .utf8)
    let changes = [
      ("listener 8883", "listener \(tlsPort) 127.0.0.1"),
      ("/etc/mosquitto/certs/fullchain.pem", path("cert.pem")), ("/etc/mosquitto/certs/privkey.pem", path("key.pem")),
      ("/etc/mosquitto/cradle.passwords", path("passwords")),
      ("acl_file /etc/mosquitto/cradle.acl", "acl_file \(Self.samples.appending(path: "cradle.acl").path)"),
    ]
    for (ours, other) in changes {
      guard text.contains("\n" + ours) || text.contains(" " + ours) else { throw Problem(description: "no \(ours)") }
      text = text.replacing("\n" + ours, with: "\n" + other).replacing(" " + ours, with: " " + other)
    }
    if !isLimited {
      let limits = ["message_size_limit", "max_packet_size"]
      text = text.split(separator: "\n").filter { line in !limits.contains(where: line.hasPrefix) }.joined(
        separator: "\n")
    }
    // Root would become another user, who cannot read the folder.
    text += "\nuser root\nlistener \(port) 127.0.0.1\n"
    try Data(text.utf8).write(to: folder.appending(path: "mosquitto.conf"))
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  func start() throws {
    let log = folder.appending(path: "log").path
    if !FileManager.default.fileExists(atPath: log) { _ = FileManager.default.createFile(atPath: log, contents: nil) }
    let output = open(log, O_WRONLY | O_APPEND)
    let input = open("/dev/null", O_RDONLY)
    defer {
      close(output)
      close(input)
    }
    process = try SpawnedProcess(
      ["mosquitto", "-v", "-c", folder.appending(path: "mosquitto.conf").path], input: input, output: output,
      errors: output)
    for _ in 0..<600 {
      if LocalPort.isListening(port), LocalPort.isListening(tlsPort) { return }
      usleep(50_000)
    }
    throw Problem(description: "mosquitto does not listen:\n" + logText)
  }

  func kill() { process?.stop(with: SIGKILL) }

  var logText: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

  static func password(_ account: Account) -> String { "secret of \(account)" }

  /// - Parameter port: another way to it than the port without TLS.
  func place(_ account: Account, port: UInt16? = nil, password: String? = nil) -> MeetingPlace {
    .mqtt(
      MQTTPlace(
        url: "mqtt://127.0.0.1:\(port ?? self.port)", username: account.rawValue,
        password: password ?? Self.password(account)))
  }

  /// - Parameter authorities: a PEM file; nil: those of the machine.
  func securePlace(_ account: Account, authorities: String?, host: String = "127.0.0.1") -> MeetingPlace {
    .mqtt(
      MQTTPlace(
        url: "mqtts://\(host):\(tlsPort)", username: account.rawValue, password: Self.password(account),
        authorities: authorities))
  }

  private static func makeCertificates(in folder: URL) throws {
    let address = IPAddress.v4(0x7f00_0001)
    let root = try RootCertificate(subject: "Test", names: [], addresses: [address])
    let key = PrivateKey.generate()
    let now = Int64(Date().timeIntervalSince1970)
    let certificate = try root.issue(for: key, names: [], addresses: [address], validity: now - 60...now + 86_400)
    for (name, text) in [("root.pem", root.certificate.pem), ("cert.pem", certificate.pem), ("key.pem", key.pem)] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
  }

  private static func run(_ command: [String]) throws {
    let nothing = open("/dev/null", O_RDWR)
    defer { close(nothing) }
    let status = try SpawnedProcess(command, input: nothing, output: nothing, errors: nothing).wait()
    guard status == 0 else { throw Problem(description: "\(command[0]) ended with \(status)") }
  }
}
