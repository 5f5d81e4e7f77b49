import Foundation
import Testing

/// Files of one server: its configuration, `state` and `run`.
final class RendezvousFolder {
  private let url = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
  static let configuration = "names: [meet.example.org]\n"
  static let program = ChildProcess.program.deletingLastPathComponent().appending(path: "cradle-rendezvous")

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  /// The file's path.
  func write(_ name: String, _ text: String) throws -> String {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  var directories: [String] { ["--state-directory", path("state"), "--runtime-directory", path("run")] }

  /// `check` needs none.
  func directories(for command: String) -> [String] { command == "check" ? [] : directories }

  func command(_ arguments: [String]) throws -> (output: String, error: String, status: Int32) {
    try ChildProcess.run(Self.program.path, arguments)
  }

  /// For starts that fail.
  func run(listen: String = "127.0.0.1:0") throws -> (output: String, error: String, status: Int32) {
    let file = try write("rendezvous.yaml", Self.configuration)
    return try command(["run", "--config", file, "--listen", listen] + directories)
  }

  /// For meet.example.org, as an authority would make it: the path without `.crt` and `.key`.
  func certificate() throws -> String {
    let name = try write("certificate", "")
    let made = try ChildProcess.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
        "/CN=meet.example.org", "-addext", "subjectAltName=DNS:meet.example.org", "-keyout", name + ".key", "-out",
        name + ".crt",
      ])
    try #require(made.status == 0, Comment(rawValue: made.error))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: name + ".key")
    return name
  }
}

/// A real `cradle-rendezvous run` on a free port of 127.0.0.1.
final class RendezvousProcess {
  let port: Int
  private let folder: RendezvousFolder
  private let process = Process()
  private let logFile: String

  init(_ folder: RendezvousFolder, configuration: String = RendezvousFolder.configuration) throws {
    self.folder = folder
    let file = try folder.write("rendezvous.yaml", configuration)
    logFile = try folder.write("log", "")
    process.executableURL = RendezvousFolder.program
    process.arguments = ["run", "--config", file, "--listen", "127.0.0.1:0"] + folder.directories
    process.standardError = FileHandle(forWritingAtPath: logFile)
    try process.run()
    let deadline = Date().addingTimeInterval(30)
    var found: Int?
    while found == nil, process.isRunning, Date() < deadline {
      usleep(20_000)
      found = (try? String(contentsOfFile: logFile, encoding: .utf8))?.firstMatch(of: /ready .*port=([0-9]+)/)
        .flatMap { Int($0.output.1) }
    }
    port = try #require(found, Comment(rawValue: (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""))
  }

  deinit {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  var processIdentifier: Int32 { process.processIdentifier }

  var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

  /// SIGTERM; the exit status.
  func stop() throws -> Int32 {
    process.terminate()
    process.waitUntilExit()
    try #require(process.terminationReason == .exit)
    return process.terminationStatus
  }

  /// `200 text/plain: ok`: status, type and body.
  func request(_ path: String, _ arguments: [String] = []) throws -> String {
    let (output, error, _) = try ChildProcess.run(
      "curl",
      ["-sk", "--max-time", "10", "--path-as-is", "-w", "\n%{http_code} %{content_type}"] + arguments
        + ["https://127.0.0.1:\(port)\(path)"])
    let end = try #require(output.lastIndex(of: "\n"), Comment(rawValue: error))
    return output[output.index(after: end)...] + ": " + output[..<end]
  }

  /// SHA-256 over the key that it shows to clients.
  func keySHA256() throws -> String {
    let script = """
      openssl s_client -connect 127.0.0.1:\(port) -servername meet.example.org </dev/null 2>/dev/null | \
      openssl x509 -noout -pubkey | openssl pkey -pubin -outform DER | sha256sum
      """
    return String(try ChildProcess.run("bash", ["-c", script]).output.prefix(64))
  }
}
