import Foundation

/// A real `cradle-child run` with test picture and tone, on free ports, with a state of its own.
final class ChildProcess {
  let folder: URL
  let port: Int
  let token: String
  private var process: Process
  private let log: URL

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// The program beside the test bundle, where SwiftPM puts both.
  static var program: URL {
    if let named = ProcessInfo.processInfo.environment["CRADLE_CHILD"] { return URL(filePath: named) }
    return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "cradle-child")
  }

  /// - Parameters:
  ///   - prefix: a command in front, such as `ip netns exec NAME`.
  ///   - configuration: the whole file; `listen` is given by flag.
  ///   - listen: nil for a port of its own at all addresses.
  ///   - arguments: more of `run`.
  init(
    configuration: String = ChildProcess.testConfiguration, listen: String? = nil, prefix: [String] = [],
    allow: String = "view,listen", arguments: [String] = []
  ) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    log = folder.appending(path: "log")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let file = folder.appending(path: "child.yaml")
    try configuration.write(to: file, atomically: true, encoding: .utf8)
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      prefix + [
        Self.program.path, "run", "--config", file.path, "--listen",
        try listen ?? "[::]:\(ReservedPort.next())", "--state-directory",
        folder.appending(path: "state").path, "--runtime-directory", folder.appending(path: "run").path,
      ] + arguments
    let output = try FileHandle(forWritingTo: log)
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let directories = [
      "--state-directory", folder.appending(path: "state").path, "--runtime-directory",
      folder.appending(path: "run").path,
    ]
    struct Added: Decodable { var token: String }
    struct State: Decodable { var port: Int }
    let status = try Self.retry(process, log) {
      try Self.json(State.self, ["status", "--json"] + directories)
    }
    port = status.port
    token = try Self.json(Added.self, ["token", "add", "--name", "test", "--allow", allow, "--json"] + directories)
      .token
  }

  /// 640x360, so that an unoptimised build on a busy machine keeps up.
  static let testConfiguration = """
    name: Test
    cameras:
      - {id: cot, device: test, width: 640, height: 360, framerate: 30}
    microphone: {device: test}
    """

  deinit {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var isRunning: Bool { process.isRunning }
  var processIdentifier: Int32 { process.processIdentifier }
  var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// Runs a command of the program against this child; output and status.
  func command(_ arguments: [String]) throws -> (output: String, error: String, status: Int32) {
    try Self.run(
      Self.program.path,
      arguments + [
        "--state-directory", folder.appending(path: "state").path, "--runtime-directory",
        folder.appending(path: "run").path,
      ])
  }

  /// As when the power fails.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Stops the program and starts it again with the same state on the same port, until it listens.
  func restart() throws {
    let arguments = process.arguments
    _ = stop()
    let output = try FileHandle(forWritingTo: log)
    output.seekToEndOfFile()
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = output
    process.standardOutput = output
    try process.run()
    try Self.retry(process, log) {
      guard try command(["status"]).status == 0 else { throw Problem(description: "no status") }
    }
  }

  static func run(_ program: String, _ arguments: [String]) throws -> (output: String, error: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let output = Pipe()
    let errors = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).err")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, (try? String(contentsOf: errors, encoding: .utf8)) ?? "", process.terminationStatus)
  }

  private static func json<Value: Decodable>(_: Value.Type, _ arguments: [String]) throws -> Value {
    let (output, error, status) = try run(program.path, arguments)
    guard status == 0 else { throw Problem(description: error) }
    return try JSONDecoder().decode(Value.self, from: Data(output.utf8))
  }

  private static func retry<Value>(_ process: Process, _ log: URL, _ body: () throws -> Value) throws -> Value {
    let deadline = Date().addingTimeInterval(30)
    while true {
      do {
        return try body()
      } catch {
        guard process.isRunning, Date() < deadline else {
          throw Problem(description: "\(error)\n\((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
        }
        usleep(100_000)
      }
    }
  }
}
