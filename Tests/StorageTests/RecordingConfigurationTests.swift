import Control
import Testing

@testable import Storage

@Suite struct RecordingConfigurationTests {
  private static func parse(_ entry: String) throws -> ChildConfiguration.Recording {
    try ChildConfiguration.parse(Array("record: \(entry)\n".utf8), file: "child.yaml").recording
  }

  @Test func itIsOffUnlessItIsAskedFor() throws {
    #expect(try ChildConfiguration.parse(Array("name: Cot\n".utf8), file: "child.yaml").recording.mode == .off)
    #expect(try Self.parse("{keep: 1d}").mode == .off)
  }

  @Test func everyKeyIsRead() throws {
    let recording = try Self.parse(
      "{mode: events, keep: 2d, size: 500M, part: 10m, folder: /mnt/disk, events: [camera-lost, alarm]}")
    #expect(recording.mode == .events)
    #expect(recording.keepSeconds == 2 * 86_400)
    #expect(recording.maximumBytes == 500 << 20)
    #expect(recording.partSeconds == 600)
    #expect(recording.folder == "/mnt/disk")
    #expect(recording.events == [.cameraLost, .alarm])
  }

  /// What was accepted once is accepted for ever: a unit that is upgraded must start.
  @Test func theLeastSizeHasRoomForAPart() throws {
    let recording = try Self.parse("{mode: always, size: 1M, part: 1h}")
    #expect(recording.maximumPartBytes == recording.maximumBytes)
    #expect(try Self.parse("{size: 64M}").maximumPartBytes == 8 << 20)
  }

  @Test(arguments: [
    ("{mode: often}", "record.mode"), ("{keep: 9m}", "record.keep"), ("{keep: 99999999d}", "record.keep"),
    ("{keep: -1d}", "record.keep"), ("{size: 1K}", "record.size"), ("{size: 9999999T}", "record.size"),
    ("{part: 5}", "record.part"), ("{part: 5s}", "record.part"), ("{folder: here}", "record.folder"),
    ("{events: [camera-gone]}", "record.events[0]"), ("{events: [recording-started]}", "cannot start itself"),
    ("{length: 5m}", "unknown key"),
  ])
  func mistakesAreNamed(entry: String, words: String) throws {
    let error = #expect(throws: (any Error).self) { try Self.parse(entry) }
    #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
  }
}
