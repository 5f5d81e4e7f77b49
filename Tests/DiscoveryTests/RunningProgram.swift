import Discovery
import Foundation
import TestSupport
import Testing

/// A program on one of the hosts, and the lines it has written so far.
final class RunningProgram {
  private let host: Host
  private let input = Pipe()
  private let output: URL
  private let process: SpawnedProcess

  init(on host: Host, _ command: [String]) throws {
    self.host = host
    output = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).out")
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    let file = try FileHandle(forWritingTo: output)
    process = try host.start(
      command, input: input.fileHandleForReading.fileDescriptor, output: file.fileDescriptor)
  }

  deinit {
    process.stop(with: SIGTERM)
    try? FileManager.default.removeItem(at: output)
  }

  var lines: [String] {
    let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    // The last piece is what has not been ended by a line break yet.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Waits until `condition` gives something for the lines; however long a busy machine takes.
  @discardableResult
  func wait<Value>(
    for what: String, location: SourceLocation = #_sourceLocation, _ condition: ([String]) -> Value?
  ) async throws -> Value {
    let deadline = ContinuousClock.now + .seconds(90)
    while ContinuousClock.now < deadline {
      if let value = condition(lines) { return value }
      guard process.isRunning else { break }
      try await Task.sleep(for: .milliseconds(30))
    }
    if let value = condition(lines) { return value }
    Issue.record(
      "\(what) did not come. Lines:\n\(lines.joined(separator: "\n"))\nLog:\n\(host.log.suffix(3000))",
      sourceLocation: location)
    throw CancellationError()
  }
}

/// The probe, built beside the test bundle.
enum Probe {
  private static var path: String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "discovery-probe").path
  }

  static func advertise(on host: Host, name: String = "Nursery", id: String = "0123456789abcdef") throws
    -> RunningProgram
  {
    try RunningProgram(on: host, [path, "advertise", name, id, "8443"])
  }

  static func browse(on host: Host) throws -> RunningProgram {
    try RunningProgram(on: host, [path, "browse"])
  }

  static func resolve(on host: Host, id: String, seconds: Int) throws -> RunningProgram {
    try RunningProgram(on: host, [path, "resolve", id, "\(seconds)"])
  }

  static func addresses(on host: Host, of names: [String]) throws -> RunningProgram {
    try RunningProgram(on: host, [path, "addresses"] + names)
  }
}

extension RunningProgram {
  /// What an advertising probe said last.
  func waitUntilAdvertised(as name: String, location: SourceLocation = #_sourceLocation) async throws {
    try await wait(for: "advertised \(name)", location: location) { $0.last == "advertised \(name)" ? true : nil }
  }

  /// What a browsing probe saw last.
  @discardableResult
  func waitForChildren(
    location: SourceLocation = #_sourceLocation, where condition: ([DiscoveredChild]) -> Bool
  ) async throws -> [DiscoveredChild] {
    try await wait(for: "what is wanted of the children", location: location) { lines in
      guard let line = lines.last, let children = Self.children(in: line), condition(children) else { return nil }
      return children
    }
  }

  static func children(in line: String) -> [DiscoveredChild]? {
    try? JSONDecoder().decode([DiscoveredChild].self, from: Data(line.utf8))
  }
}
