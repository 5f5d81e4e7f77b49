import Foundation

/// The processes that this one has started for connections.
enum ConnectionProcess {
  static func all() throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { process in
      guard let status = try? text("status", of: process), let command = try? text("cmdline", of: process) else {
        return false
      }
      return status.contains("\nPPid:\t\(getpid())\n") && command.contains("meeting-link")
    }
  }

  /// Nil: it has ended. Fields 14 and 15 of proc(5)'s stat.
  static func processorTime(of process: pid_t) -> Duration? {
    guard let stat = try? text("stat", of: process) else { return nil }
    let fields = stat.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) } ?? []
    // The state, which is no number, is the third.
    return fields.count > 11 ? .milliseconds((fields[10] + fields[11]) * 1000 / sysconf(Int32(_SC_CLK_TCK))) : nil
  }

  static func text(_ name: String, of process: pid_t) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "/proc/\(process)/\(name)")), as: UTF8.self)
  }
}
