import Foundation
import TestSupport
import Testing

extension RealPeers {
  /// What the child itself records, and how a parent gets it.
  @Suite struct ChildRecordingTests {
    private struct Listed: Decodable {
      struct Recordings: Decodable {
        struct Part: Decodable { var id: String, time: Double, seconds: Double, bytes: Int }
        var mode: String, state: String, reason: String?, parts: [Part]
      }
      var recordings: Recordings
    }

    private struct Probe: Decodable {
      struct Stream: Decodable { var codec_name: String }
      struct Format: Decodable { var duration: String? }
      var streams: [Stream]
      var format: Format
    }

    private static func household(_ record: String) throws -> Household {
      try Household(
        configuration: """
          name: Nursery
          cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 15}]
          microphone: {device: test}
          speaker: {device: "null"}
          lights: [{id: nightlight, device: simulated}]
          record: \(record)
          """)
    }

    private static func list(_ home: Household) throws -> Listed.Recordings {
      let (output, error, status) = try home.parent("recordings", "list", "--json")
      guard status == 0 else { throw ChildProcess.Problem(description: error) }
      return try JSONDecoder().decode(Listed.self, from: Data(output.utf8)).recordings
    }

    /// Until it is as wanted; 30 s at most.
    private static func wait(_ home: Household, until isFine: (Listed.Recordings) -> Bool) throws -> Listed.Recordings {
      for _ in 0..<150 {
        let list = try list(home)
        if isFine(list) { return list }
        usleep(200_000)
      }
      throw ChildProcess.Problem(description: "not within 30 s; at the end \(try list(home))")
    }

    /// Its length in seconds. Fails when ffprobe has anything to complain of.
    private static func check(_ path: String) throws -> Double {
      let (output, error, status) = try ChildProcess.run(
        "ffprobe", ["-v", "error", "-of", "json", "-show_entries", "format=duration:stream=codec_name", path])
      #expect(status == 0 && error.isEmpty, Comment(rawValue: error))
      let probe = try JSONDecoder().decode(Probe.self, from: Data(output.utf8))
      #expect(probe.streams.map(\.codec_name) == ["vp8", "opus"])
      return try #require(Double(probe.format.duration ?? ""))
    }

    @Test func anEventIsRecordedWithTheTimeBeforeIt() throws {
      let home = try Self.household("{mode: events, part: 10s, events: [light]}")
      try home.pair()
      let ready = Date().timeIntervalSince1970
      sleep(8)
      #expect(try Self.list(home).parts.isEmpty)
      let asked = Date().timeIntervalSince1970
      #expect(try home.parent("light", "on").status == 0)
      let parts = try Self.wait(home) { $0.parts.count >= 2 }.parts
      let first = try #require(parts.first)
      // A second for the names, which have whole ones.
      #expect(
        first.time < asked - 4, "began \(asked - first.time) s before the event, ready \(asked - ready) s before it")
      #expect(try home.parent("recordings", "stop").status == 0)
      #expect(try Self.wait(home) { $0.state == "idle" }.mode == "events")
      let file = home.child.folder.appending(path: "fetched.webm").path
      let fetched = try home.parent("recordings", "fetch", first.id, "--output", file)
      #expect(fetched.status == 0, Comment(rawValue: fetched.error))
      #expect(try Self.check(file) >= 9)
      let original = home.child.folder.appending(path: "state/recordings/\(first.id).webm")
      #expect(try Data(contentsOf: URL(filePath: file)) == Data(contentsOf: original))
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
      #expect(try home.parent("recordings", "fetch", "../../identity", "--output", file + "2").status != 0)
      #expect(!FileManager.default.fileExists(atPath: file + "2.part"))
    }

    @Test func whatWasWrittenBeforeThePowerFailedPlays() throws {
      let home = try Self.household("{mode: always, part: 10s}")
      try home.pair()
      sleep(16)
      home.child.kill()
      let folder = home.child.folder.appending(path: "state/recordings")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(names.count >= 2)
      let lengths = try names.map { try Self.check(folder.appending(path: $0).path) }
      // Parts of 10 s; at most the encoder's and the file system's tail of the last is lost.
      #expect(lengths.reduce(0, +) > 12, "\(lengths)")
    }

    @Test func othersMayNotSeeRecordings() throws {
      let home = try Self.household("{mode: always, part: 10s}")
      try home.pair()
      let other = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: other) }
      let opened = try home.open()
      #expect(try home.parent("pair", home.address, "--code", opened.code, state: other).status == 0)
      for arguments in [["list"], ["fetch", "last"], ["start"], ["stop"]] {
        let (_, error, status) = try ChildProcess.run(
          ParentProcess.program.path, ["recordings"] + arguments + ["--state-directory", other.path])
        #expect(status != 0 && error.contains("recordings"), Comment(rawValue: error))
      }
    }

    @Test func nothingIsRecordedUnlessItIsConfigured() throws {
      let home = try Self.household("{mode: \"off\"}")
      try home.pair()
      let (_, error, status) = try home.parent("recordings", "start")
      #expect(status != 0 && error.contains("child.yaml"), Comment(rawValue: error))
      #expect(!FileManager.default.fileExists(atPath: home.child.folder.appending(path: "state/recordings").path))
    }
  }
}
