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
  var received: Int?
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
  ///   - count: of connections, requests or datagrams a second.
  func endure(_ attack: String, seconds: Double = 4, source: String = "127.0.0.2", count: Int? = nil) throws -> Outcome
  {
    let before = (paired.figures.count, guest.figures.count)
    let quiet = resident()
    let process = Process()
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/attacker.py")
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "python3", script.path, attack, "--port", "\(house.child.port)", "--media-port", "\(mediaPort)", "--room", id,
        "--seconds", "\(seconds)", "--source", source,
      ] + (count.map { ["--count", "\($0)"] } ?? [])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var (most, descriptors) = (quiet, 0)
    let middle = Date().addingTimeInterval(seconds / 2)
    while Date() < middle {
      (most, descriptors) = (max(most, resident()), max(descriptors, openDescriptors()))
      usleep(50_000)
    }
    let order = try house.parent("light", "toggle")
    while process.isRunning {
      (most, descriptors) = (max(most, resident()), max(descriptors, openDescriptors()))
      usleep(50_000)
    }
    let report = try JSONDecoder().decode(
      AttackReport.self, from: output.fileHandleForReading.readDataToEndOfFile())
    return Outcome(
      report: report, order: order, memoryGrowth: most - quiet, maximumDescriptors: descriptors,
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

  /// 10^6 bytes. proc(5).
  private func resident() -> Double {
    let status = (try? String(contentsOfFile: "/proc/\(house.child.processIdentifier)/status", encoding: .utf8)) ?? ""
    return status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Double($0.1) }.map { $0 * 1024 / 1e6 } ?? 0
  }

  private func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(house.child.processIdentifier)/fd").count) ?? 0
  }
}
