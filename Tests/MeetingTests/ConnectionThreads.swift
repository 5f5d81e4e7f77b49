import Foundation
import Testing

enum ConnectionThreads {
  /// Waits until no thread of this name is left.
  static func areGone(_ name: String) async throws {
    let tasks = "/proc/self/task"
    for _ in 0..<4000 {
      let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map { task in
        (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) ?? ""
      }
      if !names.contains(name + "\n") { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("there still is a thread \(name)")
  }
}
