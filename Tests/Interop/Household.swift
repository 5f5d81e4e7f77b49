import Foundation

/// A child, and a parent with a state of its own that can pair with it and give orders.
final class Household {
  struct Opened: Decodable { var code: String, link: String }
  private struct Pairs: Decodable { var pairs: [Row] }
  struct Row: Decodable { var id: String, name: String, permissions: [String] }

  static let configuration = """
    name: Nursery
    cameras:
      - {id: cot, device: test, width: 640, height: 360, framerate: 30}
      - {id: door, device: test, width: 320, height: 240, framerate: 30}
    microphone: {device: test}
    speaker: {device: "null"}
    lights: [{id: nightlight, device: simulated}]
    """

  let child: ChildProcess
  let state = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
  private var window: Process?

  init(configuration: String = Household.configuration, prefix: [String] = [], arguments: [String] = []) throws {
    child = try ChildProcess(configuration: configuration, prefix: prefix, arguments: arguments)
  }

  deinit {
    window?.terminate()
    try? FileManager.default.removeItem(at: state)
  }

  func parent(_ arguments: String..., state other: URL? = nil) throws -> (
    output: String, error: String, status: Int32
  ) {
    try ChildProcess.run(ParentProcess.program.path, arguments + ["--state-directory", (other ?? state).path])
  }

  /// Opens the window; the first line of `cradle-child pair --json`.
  func open() throws -> Opened {
    let process = Process()
    process.executableURL = ChildProcess.program
    process.arguments = ["pair", "--json", "--runtime-directory", child.folder.appending(path: "run").path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    window = process
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
    return try JSONDecoder().decode(Opened.self, from: line)
  }

  /// Opens the window and pairs the parent by the code.
  @discardableResult func pair() throws -> Opened {
    let opened = try open()
    let paired = try parent("pair", address, "--code", opened.code)
    guard paired.status == 0 else { throw ChildProcess.Problem(description: paired.error) }
    return opened
  }

  /// Pairs a guest for an hour: the folder of its state.
  func inviteGuest(name: String = "Guest", allow: String = "view,listen") throws -> URL {
    struct Invited: Decodable {
      struct Invite: Decodable { var link: String }
      var invite: Invite
    }
    let said = try parent("invite", "--name", name, "--for", "1h", "--allow", allow, "--json")
    guard said.status == 0 else { throw ChildProcess.Problem(description: said.error) }
    let link = try JSONDecoder().decode(Invited.self, from: Data(said.output.utf8)).invite.link
    let guest = child.folder.appending(path: "guest-\(UUID().uuidString)")
    let paired = try parent("pair", "--link", link.replacing(/\/\/[^\/]*/, with: "//\(address)"), state: guest)
    guard paired.status == 0 else { throw ChildProcess.Problem(description: paired.error) }
    return guest
  }

  var address: String { "127.0.0.1:\(child.port)" }

  /// The child's id; empty if it does not run.
  var childID: String {
    struct Status: Decodable { var id: String }
    let output = (try? child.command(["status", "--json"]).output) ?? ""
    return (try? JSONDecoder().decode(Status.self, from: Data(output.utf8)))?.id ?? ""
  }

  func pairs() throws -> [Row] {
    try JSONDecoder().decode(Pairs.self, from: Data(child.command(["pairs", "--json"]).output.utf8)).pairs
  }
}
