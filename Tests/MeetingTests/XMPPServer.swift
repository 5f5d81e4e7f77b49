import Foundation
import Glibc
import Meeting
import SecureTransport
import Signaling
import TestSupport

/// A real prosody on loopback, with the modules that Debian's configuration has, for the domain `cradle.test`.
final class XMPPServer {
  enum Account: String, CaseIterable {
    case child, parents, stranger
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  let port: UInt16
  /// The CA of its certificate in PEM.
  let authorities: String
  private let folder: URL
  private var process: SpawnedProcess?

  static let domain = "cradle.test"

  /// - Parameters:
  ///   - name: what the certificate is for.
  ///   - rate: what it takes of each client in a second, in kB.
  ///   - refusesMessages: between accounts that are not each other's contacts; questions pass.
  init(certificateFor name: String = XMPPServer.domain, rate: Int = 10, refusesMessages: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "cradle-xmpp-\(UUID().uuidString)")
    let path = { [folder] (name: String) in folder.appending(path: name).path }
    let accounts = folder.appending(path: "data/cradle%2etest/accounts")
    try FileManager.default.createDirectory(at: accounts, withIntermediateDirectories: true)
    port = try LocalPort.free()
    authorities = path("root.pem")
    let root = try RootCertificate(subject: "Test", names: [name], addresses: [])
    let key = PrivateKey.generate()
    let now = Int64(Date().timeIntervalSince1970)
    let certificate = try root.issue(for: key, names: [name], addresses: [], validity: now - 60...now + 86_400)
    for (name, text) in [("root.pem", root.certificate.pem), ("cert.pem", certificate.pem), ("key.pem", key.pem)] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
    for account in Account.allCases {
      let text = "return { [\"password\"] = \"\(Self.password(account))\" };"
      try Data(text.utf8).write(to: accounts.appending(path: "\(account.rawValue).dat"))
    }
    let configuration = """
      run_as_root = true
      pidfile = "\(path("pid"))"
      data_path = "\(path("data"))"
      plugin_paths = { "\(path("plugins"))" }
      modules_enabled = { \(refusesMessages ? "\"no_strangers\", " : "")"disco", "roster", "saslauth", "tls", "blocklist", "carbons", "limits", "pep", "private",
        "smacks", "csi_simple", "ping", "time", "version", "posix" }
      modules_disabled = { "s2s" }
      limits = { c2s = { rate = "\(rate)kb/s" } }
      authentication = "internal_plain"
      c2s_require_encryption = false
      c2s_ports = { \(port) }
      c2s_interfaces = { "127.0.0.1" }
      log = { debug = "\(path("log"))" }
      VirtualHost "\(Self.domain)"
        ssl = { certificate = "\(path("cert.pem"))", key = "\(path("key.pem"))" }
      """
    try FileManager.default.createDirectory(at: folder.appending(path: "plugins"), withIntermediateDirectories: true)
    let module = """
      local st = require "util.stanza";
      module:hook("pre-message/full", function(event)
        event.origin.send(st.error_reply(event.stanza, "cancel", "service-unavailable"));
        return true;
      end, 1000);
      """
    try Data(module.utf8).write(to: folder.appending(path: "plugins/mod_no_strangers.lua"))
    try Data(configuration.utf8).write(to: folder.appending(path: "prosody.cfg.lua"))
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  func start() throws {
    let output = open(folder.appending(path: "output").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    let input = open("/dev/null", O_RDONLY)
    defer {
      close(output)
      close(input)
    }
    process = try SpawnedProcess(
      ["prosody", "-F", "--config", folder.appending(path: "prosody.cfg.lua").path], input: input, output: output,
      errors: output)
    for _ in 0..<600 {
      if LocalPort.isListening(port) { return }
      usleep(50_000)
    }
    throw Problem(description: "prosody does not listen:\n" + text("output") + text("log"))
  }

  func kill() { process?.stop(with: SIGKILL) }

  func text(_ name: String) -> String {
    (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
  }

  static func password(_ account: Account) -> String { "secret of \(account)" }

  static func address(_ account: Account) -> AccountAddress {
    guard let address = AccountAddress("\(account.rawValue)@\(domain)") else { preconditionFailure("it is one") }
    return address
  }

  /// - Parameters:
  ///   - port: another way to it.
  ///   - authorities: a PEM file: TLS has to be.
  func place(
    _ account: Account, port: UInt16? = nil, password: String? = nil, authorities: String? = nil
  ) -> MeetingPlace {
    .xmpp(
      XMPPPlace(
        account: Self.address(account), password: password ?? Self.password(account), child: Self.address(.child),
        parents: Self.address(.parents), host: "127.0.0.1", port: port ?? self.port, authorities: authorities))
  }
}
