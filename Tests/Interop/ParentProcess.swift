import Foundation

/// One line of `cradle-parent watch --stats`. interfaces/commands.md, "cradle-parent".
struct ParentFigures: Decodable {
  struct Latency: Decodable {
    var p50: Int
    var p95: Int
  }

  var state: String
  var timeToFirstFrameMs: Double?
  var framesDecoded: Int
  var framesPerSecond: Double
  var width: Int?
  var height: Int?
  var audioKbps: Double
  var latencyMs: Latency?
  var audioLevelDb: Double?
  var concealedPercent: Double?
  var freezeCount: Int
  var reconnects: Int
  var room: String?
  var child: String?
  var alarm: Alarm?
  var shownMs: Shown?
  var isVoxOpen: Bool?

  struct Alarm: Decodable {
    var kind: String
    var level: String
    var sinceMs: Int
    var acknowledged: Bool
  }

  var rings: Bool { alarm.map { $0.level != "notice" && !$0.acknowledged } ?? false }

  struct Shown: Decodable {
    var p50: Double
    var p95: Double
  }
}

/// A real `cradle-parent watch`, with a state of its own.
final class ParentProcess {
  let folder: URL
  private let process = Process()
  private let output: URL
  private let errors: URL

  static var program: URL {
    if let named = ProcessInfo.processInfo.environment["CRADLE_PARENT"] { return URL(filePath: named) }
    return ChildProcess.program.deletingLastPathComponent().appending(path: "cradle-parent")
  }

  /// Watches a WHEP server with a token.
  convenience init(_ url: String, token: String, arguments: [String], prefix: [String] = []) throws {
    try self.init(["--whep", url] + arguments, token: token, prefix: prefix)
  }

  /// Watches the child that a parent is paired with.
  ///
  /// - Parameter environment: what the program has besides this one's; its directory is `folder` then.
  convenience init(paired state: URL, arguments: [String] = [], environment: [String: String] = [:]) throws {
    try self.init(arguments, state: state, environment: environment)
  }

  private init(
    _ arguments: [String], token: String? = nil, state: URL? = nil, prefix: [String] = [],
    environment: [String: String] = [:]
  ) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    output = folder.appending(path: "out")
    errors = folder.appending(path: "err")
    for file in [output, errors] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      prefix + [
        Self.program.path, "watch", "--stats", "--speaker", "null", "--state-directory",
        (state ?? folder.appending(path: "state")).path,
      ] + arguments
    if !environment.isEmpty {
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.currentDirectoryURL = folder
    }
    if let token {
      process.environment = ProcessInfo.processInfo.environment.merging(["CRADLE_TOKEN": token]) { $1 }
    }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  deinit {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var processIdentifier: Int32 { process.processIdentifier }
  var log: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

  var figures: [ParentFigures] {
    let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      try? JSONDecoder().decode(ParentFigures.self, from: Data(line.utf8))
    }
  }

  /// Waits until a line of figures is as wanted; nil when none was in time.
  func wait(limit: TimeInterval = 40, until isMet: (ParentFigures) -> Bool) -> ParentFigures? {
    let deadline = Date().addingTimeInterval(limit)
    while Date() < deadline {
      if let line = figures.last(where: isMet) { return line }
      if !process.isRunning { break }
      usleep(50_000)
    }
    return nil
  }

  func finish() -> (last: ParentFigures?, status: Int32) {
    process.waitUntilExit()
    return (figures.last, process.terminationStatus)
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// A WHEP server that is not ours, from Tests/Interop/peers; prints its port on the first line.
final class ForeignServer {
  let url: String
  private let process = Process()
  private let output = Pipe()

  init(_ script: String, python: String? = nil, arguments: [String] = []) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    process.executableURL = URL(filePath: python ?? root.appending(path: ".build/venv/bin/python").path)
    process.arguments =
      [root.appending(path: "Tests/Interop/peers/\(script).py").path, "--listen", "127.0.0.1", "--port", "0"]
      + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw ChildProcess.Problem(description: "\(script) did not start: \(text)") }
      text += String(decoding: data, as: UTF8.self)
    }
    guard let port = text.firstMatch(of: /listening on (\d+)/)?.1 else {
      throw ChildProcess.Problem(description: "\(script) told no port: \(text)")
    }
    url = "http://127.0.0.1:\(port)/whep"
  }

  deinit {
    process.terminate()
    for _ in 0..<100 where process.isRunning { usleep(50_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
