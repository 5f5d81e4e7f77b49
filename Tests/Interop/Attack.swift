import Foundation

/// What Tests/Interop/peers/attacker.py tells.
struct AttackReport: Decodable {
  var attempted: Int
  /// By HTTP status or WebSocket close code; "closed" and "refused" where there was none.
  var answers: [String: Int]
  /// The answers that each form of an attack got.
  var byForm: [String: Set<String>]?
  /// Requests whose answer said when to come again.
  var retryAfter: Int?
  var guesses: Int?
  var longestLifeSeconds: Double?
  var mostHeld: Int?
  var heldAtEnd: Int?
  var received: Int?
  /// Ports that the child sent something to.
  var asked: Int?
}

/// A run of Tests/Interop/peers/attacker.py, or of what belongs to it.
final class Attacker {
  private let process = Process()
  private let output = Pipe()

  /// - Parameters:
  ///   - seconds: how long, unless it is ended before.
  ///   - sources: how many addresses, from `source` on.
  ///   - count: of connections, requests or datagrams a second.
  init(
    _ attack: String, script: String = "attacker.py", port: Int, seconds: Double = 600, source: String = "127.0.0.2",
    sources: Int = 1, count: Int? = nil, arguments: [String] = []
  ) throws {
    let peers = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers")
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "python3", peers.appending(path: script).path, attack, "--port", "\(port)", "--seconds", "\(seconds)",
        "--source",
        source, "--sources", "\(sources)",
      ] + (count.map { ["--count", "\($0)"] } ?? []) + arguments
    process.standardOutput = output
    try process.run()
  }

  deinit {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  var isRunning: Bool { process.isRunning }

  /// What came of it, once it is over.
  func report() throws -> AttackReport {
    try JSONDecoder().decode(AttackReport.self, from: output.fileHandleForReading.readDataToEndOfFile())
  }

  /// Ends it.
  func stop() throws -> AttackReport {
    process.terminate()
    return try report()
  }
}

/// What a process takes of the machine. proc(5).
struct ProcessUse {
  let process: Int32

  /// Resident memory, 10^6 bytes.
  var memory: Double {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Double($0.1) }.map { $0 * 1024 / 1e6 } ?? 0
  }

  /// Open file descriptors.
  var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0 }
}

/// A house in which a paired parent and a token's holder watch while somebody leans on the child's ports.
final class AttackedHouse {
  let house: Household
  private let paired: ParentProcess
  private let guest: ParentProcess
  private let mediaPort: Int
  private let id: String

  struct Outcome {
    var report: AttackReport
    /// A paired parent's order that came while the attack went on.
    var order: (output: String, error: String, status: Int32)
    /// The highest memory of the child during the attack less that before, 10^6 bytes.
    var memoryGrowth: Double
    /// The most file descriptors that the child had.
    var maximumDescriptors: Int
    /// What the viewers did not like; empty when they noticed nothing.
    var complaints: [String]
  }

  init(prefix: [String] = []) throws {
    struct Status: Decodable { var id: String, mediaPort: Int }
    house = try Household(prefix: prefix)
    try house.pair()
    let status = try JSONDecoder().decode(
      Status.self, from: Data(house.child.command(["status", "--json"]).output.utf8))
    (id, mediaPort) = (status.id, status.mediaPort)
    paired = try ParentProcess(paired: house.state)
    guest = try ParentProcess(
      "https://127.0.0.1:\(house.child.port)/whep", token: house.child.token, arguments: ["--duration", "600"])
    for viewer in [paired, guest] {
      guard let line = viewer.wait(until: { $0.framesPerSecond > 0 && $0.audioKbps > 0 }), line.framesPerSecond > 0
      else {
        throw ChildProcess.Problem(description: "no picture came: \(viewer.log)")
      }
    }
  }

  /// - Parameters:
  ///   - source: the attacker's address.
  ///   - sources: how many addresses it has, from `source` on.
  ///   - count: of connections, requests or datagrams a second.
  ///   - enough: `429:1`: it goes on until one answer was 429, whatever that takes a busy machine.
  ///   - meanwhile: done in the middle of it.
  func endure(
    _ attack: String, script: String = "attacker.py", seconds: Double = 4, source: String = "127.0.0.2",
    sources: Int = 1, count: Int? = nil, enough: String? = nil, arguments: [String] = [],
    meanwhile: () throws -> Void = {}
  ) throws -> Outcome {
    let before = (paired.figures.count, guest.figures.count)
    let use = ProcessUse(process: house.child.processIdentifier)
    let quiet = use.memory
    let attacker = try Attacker(
      attack, script: script, port: house.child.port, seconds: seconds, source: source, sources: sources, count: count,
      arguments: ["--media-port", "\(mediaPort)", "--room", id] + (enough.map { ["--enough", $0] } ?? []) + arguments)
    var (most, descriptors) = (quiet, 0)
    let middle = Date().addingTimeInterval(seconds / 2)
    while Date() < middle {
      (most, descriptors) = (max(most, use.memory), max(descriptors, use.descriptors))
      usleep(50_000)
    }
    let order = try house.parent("light", "toggle")
    try meanwhile()
    while attacker.isRunning {
      (most, descriptors) = (max(most, use.memory), max(descriptors, use.descriptors))
      usleep(50_000)
    }
    return Outcome(
      report: try attacker.report(), order: order, memoryGrowth: most - quiet, maximumDescriptors: descriptors,
      complaints: complaints("paired parent", paired, since: before.0) + complaints("guest", guest, since: before.1))
  }

  /// A loaded machine decodes fewer pictures; a link that broke or a picture that stands is something else.
  private func complaints(_ name: String, _ viewer: ParentProcess, since before: Int) -> [String] {
    let decoded = viewer.figures.last?.framesDecoded ?? 0
    let after = viewer.wait(limit: 20) { $0.framesDecoded > decoded && $0.framesPerSecond > 0 && $0.audioKbps > 0 }
    let during = viewer.figures.dropFirst(before)
    var found: [String] = []
    if (after?.framesDecoded ?? 0) <= decoded { found.append("\(name): no more pictures; \(viewer.log.suffix(500))") }
    if after?.reconnects != 0 { found.append("\(name): had to connect again") }
    if let line = during.first(where: { $0.state != "connected" }) { found.append("\(name): \(line.state)") }
    let standing = during.split { $0.framesPerSecond > 0 }.map(\.count).max() ?? 0
    if standing > 15 { found.append("\(name): the picture stood still for \(standing) s") }
    return found
  }
}
