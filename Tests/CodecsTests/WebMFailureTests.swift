import Codecs
import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import Wire

/// What is left when the disk is full or the program is killed.
@Suite struct WebMFailureTests {
  private func failure(_ body: () throws -> Void) -> WebMError? {
    do {
      try body()
      return nil
    } catch {
      return error as? WebMError
    }
  }

  @Test(arguments: [0, 100, 400, 5_000, 20_000, 31_234, 50_000])
  func aFullDiskEndsTheRecordingOnceAndKeepsWhatIsThere(room: Int) throws {
    let file = MemoryFile(room: room)
    let writer = WebMWriter(file: file)
    var failures: [WebMError] = []
    for frame in WebMTesting.media.video {
      for packet in WebMTesting.media.audio where abs((packet.captureTime - frame.captureTime).inMilliseconds) < 12 {
        if let error = failure({ try writer.write(audio: packet.data, at: packet.captureTime) }) {
          failures.append(error)
        }
      }
      if let error = failure({ try writer.write(video: frame.data, at: frame.captureTime) }) { failures.append(error) }
    }
    #expect(failures == [.diskFull])
    #expect(writer.hasEnded)
    let summary = try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(!parsed.isCut && file.bytes.count <= room)
    // There is not even room for the header then.
    if room <= 1000 {
      #expect(parsed.blocks(track: 1).isEmpty)
      return
    }
    #expect(parsed.segmentSize == file.bytes.count - parsed.segmentOffset && file.isSynchronized)
    #expect(parsed.blocks(track: 1).count == summary.videoFrames && summary.videoFrames > 0)
    #expect(parsed.duration == (summary.duration / .milliseconds(1)))
    #expect(summary.bytes == file.bytes.count)
    // A recording of more than its first second gives the last one for its cues.
    if room >= 20_000 { #expect(!parsed.cues.isEmpty && parsed.seeks.count == 3) }
    for cue in parsed.cues { #expect(parsed.clusters.contains { $0.position == cue.position }) }
  }

  @Test func aDiskThatFillsAtTheEndIsReportedByFinish() throws {
    let whole = try WebMTesting.record()
    let cues = try #require(ParsedWebM(whole.bytes).elementPositions[0x1c53_bb6b])
    let file = MemoryFile(room: ParsedWebM(whole.bytes).segmentOffset + cues + 3)
    let writer = WebMWriter(file: file)
    try WebMTesting.write(WebMTesting.media, to: writer)
    #expect(failure { try writer.finish() } == .diskFull)
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.cues.count == 2 && parsed.seeks.count == 3 && !parsed.isCut)
    let pictures = try WebMTesting.withFile(file.bytes) { try FFmpeg.decode($0).pictures }
    #expect(pictures > 55)
  }

  @Test(.enabled(if: Mounts.arePossible, "this process may not mount a file system"))
  func aRealFullDiskLeavesAFileThatPlays() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { rmdir(folder) }
    try #require(mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0)
    defer { umount2(folder, Int32(MNT_DETACH)) }
    let path = "\(folder)/night.webm"
    let writer = try WebMWriter(file: WebMDiskFile(path: path))
    #expect(failure { try WebMTesting.write(WebMTesting.media, to: writer) } == .diskFull)
    let summary = try writer.finish()
    let (report, errors) = try FFmpeg.probe(path)
    #expect(errors.isEmpty, "\(errors)")
    #expect(report.times("video").count == summary.videoFrames && summary.videoFrames > 20)
    let decoded = try FFmpeg.decode(path)
    #expect(decoded.pictures == summary.videoFrames && decoded.errors.isEmpty)
  }

  @Test func aRecordingIsNeverOverwrittenAndIsItsOwnersAlone() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).webm").path
    defer { unlink(path) }
    let writer = try WebMWriter(file: WebMDiskFile(path: path))
    try WebMTesting.write(WebMTesting.media, to: writer)
    let summary = try writer.finish()
    #expect(try Data(contentsOf: URL(filePath: path)).count == summary.bytes)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(failure { _ = try WebMWriter(file: WebMDiskFile(path: path)) } == .exists(path: path))
    let missing = failure { _ = try WebMWriter(file: WebMDiskFile(path: "/nonexistent/a.webm")) }
    #expect(missing?.description.contains("/nonexistent/a.webm: No such file") == true)
  }

  /// As a kill leaves it, and as a disk that lost its end does.
  @Test func whatIsLeftOfATruncatedFilePlays() throws {
    let whole = try WebMTesting.record().bytes
    let beginning = ParsedWebM(whole).segmentOffset + (ParsedWebM(whole).clusters.first?.position ?? 0)
    for cut in stride(from: beginning + 7, through: whole.count - 1, by: (whole.count - beginning) / 7) {
      let bytes = Array(whole[..<cut])
      let expected = ParsedWebM(bytes).blocks(track: 1).count
      try WebMTesting.withFile(bytes) { path in
        let pictures = try FFmpeg.decode(path).pictures
        #expect(pictures >= expected, "cut at \(cut)")
      }
    }
  }
}
