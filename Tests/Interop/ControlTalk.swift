import Foundation

/// `peers/control_talk.py`: a session with a token that says what it is told to on the control channel.
enum ControlTalk {
  struct Answer: Decodable, Equatable, CustomStringConvertible {
    var inReplyTo: String?
    var text: String
    var code: String?

    static func ok(_ id: String) -> Answer { Answer(inReplyTo: id, text: "ok") }
    static func error(_ id: String?, _ code: String) -> Answer { Answer(inReplyTo: id, text: "error", code: code) }

    var description: String { "\(text) \(code ?? "") to \(inReplyTo ?? "nobody")" }
  }

  /// - Parameter messages: JSON; see control_talk.py.
  static func talk(
    _ child: ChildProcess, _ messages: [String: String], token: String? = nil
  ) throws -> [String: [Answer]?] {
    let text = "{" + messages.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    let answer = try run("control_talk.py", child, token: token ?? child.token, input: text)
    return try JSONDecoder().decode([String: [Answer]?].self, from: Data(answer.utf8))
  }

  /// Standard output of one of the peers that use aiortc.
  static func run(
    _ script: String, _ child: ChildProcess, token: String, arguments: [String] = [], input text: String
  ) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = root.appending(path: ".build/venv/bin/python")
    process.arguments =
      [
        root.appending(path: "Tests/Interop/peers/\(script)").path, "--url",
        "https://127.0.0.1:\(child.port)/whep", "--token", token,
      ] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: answer, as: UTF8.self)
  }

  /// A list of texts.
  static func quoted(_ messages: [String]) -> String {
    let encoder = JSONEncoder()
    return "["
      + messages.map { String(decoding: (try? encoder.encode($0)) ?? Data(), as: UTF8.self) }.joined(separator: ",")
      + "]"
  }

  /// A token of the child.
  static func token(_ child: ChildProcess, allow: String, name: String = "player") throws -> String {
    struct Added: Decodable { var token: String }
    let said = try child.command(["token", "add", "--name", name, "--allow", allow, "--json"])
    return try JSONDecoder().decode(Added.self, from: Data(said.output.utf8)).token
  }
}
