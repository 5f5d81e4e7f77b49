import Foundation
import Glibc
import SecureTransport
import TestSupport
import Wire

/// A real coturn on loopback, on free ports, without a state of its own.
final class TURNServerProcess {
  let port: UInt16
  let tlsPort: UInt16
  /// The CA of its certificate, for 127.0.0.1, in PEM.
  let authorities: String
  private let folder: URL
  private let process: SpawnedProcess

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter arguments: who may use it, and how much.
  init(_ arguments: [String]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "cradle-turn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let address = IPAddress.v4(0x7f00_0001)
    let root = try RootCertificate(subject: "Test", names: [], addresses: [address])
    let key = PrivateKey.generate()
    let now = Int64(Date().timeIntervalSince1970)
    let certificate = try root.issue(for: key, names: [], addresses: [address], validity: now - 60...now + 86_400)
    authorities = folder.appending(path: "root.pem").path
    for (name, text) in [("root.pem", root.certificate.pem), ("cert.pem", certificate.pem), ("key.pem", key.pem)] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
    let path = { [folder] (name: String) in folder.appending(path: name).path }
    (port, tlsPort) = (UInt16(try ReservedPort.next()), UInt16(try ReservedPort.next()))
    let log = path("log")
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let output = open(log, O_WRONLY)
    let input = open("/dev/null", O_RDONLY)
    defer {
      close(output)
      close(input)
    }
    process = try SpawnedProcess(
      [
        "turnserver", "-n", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--relay-ip=::1",
        "--listening-port=\(port)", "--tls-listening-port=\(tlsPort)", "--cert=\(path("cert.pem"))",
        "--pkey=\(path("key.pem"))", "--realm=cradle.test", "--allow-loopback-peers", "--no-cli", "--cli-password=none",
        "--no-dtls", "--userdb=\(path("users"))", "--pidfile=\(path("pid"))", "--log-file=stdout", "--simple-log",
      ] + arguments, input: input, output: output, errors: output)
    for _ in 0..<200 {
      if Self.isListening(port), Self.isListening(tlsPort) { return }
      usleep(50_000)
    }
    throw Problem(description: "turnserver does not listen:\n" + logText)
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  func stop() { process.stop(with: SIGKILL) }

  var logText: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

  // MARK: - Ports

  private static func isListening(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
