import Foundation
import TestSupport
import Testing

/// What `watch --record` leaves on the disk, whatever ended it.
extension RealPeers {
  @Suite struct RecordingTests {
    private struct Probe: Decodable {
      struct Stream: Decodable {
        var codec_name: String
        var nb_read_packets: String?
      }
      struct Format: Decodable { var duration: String? }
      var streams: [Stream]
      var format: Format
    }

    private struct Played: Decodable {
      var duration: Double?
      var framesDecoded: Int?
      var seeked: Bool?
      var audioDecoded: Bool?
      var error: String?
    }

    /// Fails when ffprobe has anything to complain of.
    private static func probe(_ path: String) throws -> Probe {
      let (output, error, status) = try ChildProcess.run(
        "ffprobe",
        [
          "-v", "error", "-of", "json", "-count_packets", "-show_entries",
          "format=duration:stream=codec_name,nb_read_packets", path,
        ])
      #expect(status == 0 && error.isEmpty, Comment(rawValue: error))
      return try JSONDecoder().decode(Probe.self, from: Data(output.utf8))
    }

    private static func check(_ path: String, seconds: ClosedRange<Double>) throws {
      let probe = try probe(path)
      #expect(probe.streams.map(\.codec_name) == ["vp8", "opus"])
      for stream in probe.streams { #expect((Int(stream.nb_read_packets ?? "") ?? 0) >= 15, "\(probe)") }
      #expect(seconds.contains(Double(probe.format.duration ?? "") ?? 0), "\(probe)")
    }

    private static func record(_ child: ChildProcess, to path: String, _ arguments: [String]) throws -> ParentProcess {
      try ParentProcess(
        "https://127.0.0.1:\(child.port)/whep", token: child.token, arguments: ["--record", path] + arguments)
    }

    @Test func aRecordingPlaysInFFmpegAndBothBrowsers() throws {
      let child = try ChildProcess()
      let file = child.folder.appending(path: "night.webm").path
      #expect(try Self.record(child, to: file, ["--duration", "5"]).finish().status == 0)
      try Self.check(file, seconds: 4...6.5)
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      for browser in ["chromium", "firefox"] {
        let (output, error, _) = try ChildProcess.run(
          root.appending(path: ".build/venv/bin/python").path,
          [root.appending(path: "Tests/Interop/peers/play_webm.py").path, browser, file, "--seek", "2"])
        let line = output.split(separator: "\n").last ?? ""
        let played = try JSONDecoder().decode(Played.self, from: Data(line.utf8))
        let note = Comment(rawValue: "\(browser): \(line)\n\(error)")
        #expect(played.error == nil, note)
        #expect((played.framesDecoded ?? 0) > 0, note)
        #expect(played.audioDecoded == true, note)
        #expect((4...6.5).contains(played.duration ?? 0), note)
      }
    }

    @Test func aKilledParentLeavesWhatItHadRecorded() throws {
      let child = try ChildProcess()
      let file = child.folder.appending(path: "killed.webm").path
      let parent = try Self.record(child, to: file, [])
      #expect(parent.wait { $0.framesDecoded > 120 } != nil, Comment(rawValue: parent.log))
      // Playable while it grows, too.
      _ = try Self.probe(file)
      parent.kill()
      try Self.check(file, seconds: 1...60)
    }

    @Test(.enabled(if: Mounts.arePossible, "this process may not mount a file system"))
    func aFullDiskEndsTheRecordingAndNotTheWatching() throws {
      let child = try ChildProcess()
      let disk = child.folder.appending(path: "disk")
      try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
      let mount = try ChildProcess.run("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", disk.path])
      try #require(mount.status == 0, Comment(rawValue: mount.error))
      defer { _ = try? ChildProcess.run("umount", [disk.path]) }
      let file = disk.appending(path: "full.webm").path
      let parent = try Self.record(child, to: file, ["--duration", "6"])
      let (last, status) = parent.finish()
      // A recording that was asked for is not whole.
      #expect(status == 1, Comment(rawValue: parent.log))
      #expect(parent.log.contains("the disk is full"), Comment(rawValue: parent.log))
      #expect((last?.framesDecoded ?? 0) > 60)
      try Self.check(file, seconds: 0.5...6)
    }

    @Test func aFileThatExistsIsNotOverwritten() throws {
      let child = try ChildProcess()
      let file = child.folder.appending(path: "mine.webm").path
      try "mine".write(toFile: file, atomically: true, encoding: .utf8)
      let parent = try Self.record(child, to: file, ["--duration", "2"])
      #expect(parent.finish().status == 1)
      #expect(parent.log.contains("exists already"), Comment(rawValue: parent.log))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    }
  }
}
