import Foundation

/// `peers/notified.py`: a server that notifiers are tried against.
final class NotifiedServer {
  struct Request: Decodable {
    var method: String, path: String, headers: [String: String], body: String
    /// Of a multipart/form-data body.
    var fields: [String: String]?
    /// JPEG: the body, or a file of a form.
    var picture: Data?

    /// A member of the body, which is a JSON object of strings.
    subscript(member: String) -> String? {
      (try? JSONDecoder().decode([String: String].self, from: Data(body.utf8)))?[member]
    }
  }

  let port: Int
  private let process = Process()
  private let output: URL

  init(port: Int = 0, certificate: URL? = nil, key: URL? = nil, elsewhere: String? = nil) throws {
    output = FileManager.default.temporaryDirectory.appending(path: "notified-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/notified.py")
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", script.path, "--port", "\(port)"]
    if let certificate, let key {
      process.arguments! += ["--certificate", certificate.path, "--key", key.path]
    }
    if let elsewhere { process.arguments! += ["--elsewhere", elsewhere] }
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    var lines: [Substring] = []
    for _ in 0..<200 where lines.count < 2 {
      usleep(100_000)
      lines = (try String(contentsOf: output, encoding: .utf8)).split(separator: "\n", omittingEmptySubsequences: false)
    }
    guard let number = lines.first.flatMap({ Int($0) }) else {
      process.terminate()
      throw ChildProcess.Problem(description: "the notified server did not start")
    }
    self.port = number
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: output)
  }

  func requests(_ path: String) -> [Request] {
    let lines = ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").dropFirst()
    return lines.compactMap { try? JSONDecoder().decode(Request.self, from: Data($0.utf8)) }.filter { $0.path == path }
  }

  /// Waits for so many requests; what there is after the time otherwise.
  func wait(_ path: String, count: Int = 1, seconds: Double = 30) -> [Request] {
    let end = Date(timeIntervalSinceNow: seconds)
    while requests(path).count < count, Date() < end { usleep(50_000) }
    return requests(path)
  }
}
