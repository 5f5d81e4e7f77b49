import Foundation

/// WHEP's two requests, by curl. What is secret goes through its standard input, not into the list of processes.
struct WHEPRequests {
  private let options: Options

  init(_ options: Options) {
    self.options = options
  }

  func post(offer: String) throws -> (answer: String, location: String) {
    let reply = try curl([
      "url = \(quoted(options.url))", "request = POST", "header = \"Content-Type: application/sdp\"",
      "data-binary = \(quoted(offer))", "include",
    ])
    guard let end = reply.range(of: "\r\n\r\n") else { throw PlayerError("no HTTP answer") }
    let head = reply[..<end.lowerBound].split(separator: "\r\n")
    guard head.first?.contains(" 201") == true else { throw PlayerError("the server says \(head.first ?? "nothing")") }
    guard let location = head.first(where: { $0.lowercased().hasPrefix("location:") }) else {
      throw PlayerError("the server names no session")
    }
    let path = location.dropFirst("location:".count).trimmingCharacters(in: .whitespaces)
    return (String(reply[end.upperBound...]), path.hasPrefix("/") ? options.origin + path : path)
  }

  func delete(_ session: String) {
    _ = try? curl(["url = \(quoted(session))", "request = DELETE"])
  }

  private func curl(_ lines: [String]) throws -> String {
    var lines = lines + ["header = \(quoted("Authorization: Bearer \(options.token)"))"]
    if let fingerprint = options.fingerprint {
      // Whoever signed the certificate: the key decides.
      lines += ["insecure", "pinnedpubkey = \(quoted("sha256//\(fingerprint)"))"]
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["curl", "--silent", "--show-error", "--max-time", "10", "--http1.1", "--config", "-"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    input.fileHandleForWriting.write(Data(lines.joined(separator: "\n").utf8))
    input.fileHandleForWriting.closeFile()
    let reply = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PlayerError("curl: status \(process.terminationStatus)") }
    return String(decoding: reply, as: UTF8.self)
  }

  /// A string of curl's configuration language.
  private func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\r": quoted += "\\r"
      case "\n": quoted += "\\n"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
