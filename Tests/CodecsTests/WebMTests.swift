import Codecs
import Frames
import Testing
import Wire

@Suite struct WebMTests {
  private let key: [UInt8] = [0x10, 0, 0, 0x9d, 1, 0x2a, 160, 0, 120, 0, 0, 0]
  private let delta: [UInt8] = [0x11, 0, 0, 0]
  /// 20 ms.
  private let sound: [UInt8] = [0x78, 1, 2, 3]

  private func at(_ milliseconds: Int) -> Instant { .zero + .seconds(100) + .milliseconds(milliseconds) }

  private func keyFrame(_ width: Int, _ height: Int) -> [UInt8] {
    key[..<6] + [UInt8(width & 0xff), UInt8(width >> 8), UInt8(height & 0xff), UInt8(height >> 8)] + [0, 0]
  }

  @Test func aFinishedRecordingHasSizesDurationSeekHeadAndCues() throws {
    let file = try WebMTesting.record()
    let parsed = ParsedWebM(file.bytes)
    #expect(file.isSynchronized && !parsed.isCut)
    #expect(parsed.segmentSize == file.bytes.count - parsed.segmentOffset)
    #expect(parsed.clusters.allSatisfy { $0.hasSize && $0.blocks.count > 0 })
    let last = try #require(parsed.blocks(track: 1).last)
    #expect(parsed.duration.map { (Double(last.time)...Double(last.time + 67)).contains($0) } == true)
    #expect(parsed.cues.map(\.time) == [0, 1000, 2000])
    for cue in parsed.cues {
      let cluster = try #require(parsed.clusters.first { $0.position == cue.position })
      #expect(cluster.time == cue.time && cluster.blocks[0].track == 1 && cluster.blocks[0].flags == 0x80)
    }
    #expect(parsed.seeks.count == 3)
    for seek in parsed.seeks { #expect(parsed.elementPositions[seek.id] == seek.position) }
    #expect(parsed.width == 160 && parsed.height == 120)
    #expect(parsed.codecDelay == 6_500_000 && parsed.seekPreRoll == 80_000_000)
    #expect(parsed.codecPrivate == Array("OpusHead".utf8) + [1, 1, 56, 1, 0x80, 0xbb, 0, 0, 0, 0, 0])
  }

  @Test func picturesAndSoundAreInTheOrderOfTheirTimes() throws {
    let parsed = ParsedWebM(try WebMTesting.record().bytes)
    #expect(parsed.blocks(track: 1).count == WebMTesting.media.video.count)
    #expect(parsed.blocks(track: 2).count == WebMTesting.media.audio.count)
    #expect(zip(parsed.blocks, parsed.blocks.dropFirst()).allSatisfy { $0.time <= $1.time })
    for cluster in parsed.clusters {
      #expect(cluster.blocks.allSatisfy { $0.time >= cluster.time && $0.time - cluster.time < 1000 })
    }
    let audio = parsed.blocks(track: 2)
    #expect(audio.allSatisfy { $0.flags == 0x80 } && audio.map(\.time) == audio.indices.map { $0 * 20 })
  }

  @Test func recordingBeginsWithTheFirstKeyFrame() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file)
    for index in 0..<40 { try writer.write(audio: sound, at: at(index * 20)) }
    try writer.write(video: delta, at: at(770))
    try writer.write(video: [], at: at(780))
    #expect(!writer.hasBegun && file.bytes.isEmpty)
    try writer.write(video: key, at: at(700))
    try writer.write(video: delta, at: at(810))
    try writer.write(audio: sound, at: at(690))
    let summary = try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.blocks(track: 1).map(\.time) == [0, 110])
    // What came before its key frame and sounds after it is there.
    #expect(parsed.blocks(track: 2).map(\.time) == [0, 20, 40, 60, 80])
    #expect(summary.videoFrames == 2 && summary.audioPackets == 5 && summary.bytes == file.bytes.count)
  }

  /// As a live stream: nothing is known before its end, and nothing is gone back to.
  @Test func throughAPipeItIsWrittenFromFrontToBack() throws {
    // The size of the picture grows on the way.
    let large = try WebMTesting.encode(frames: 10, keyEvery: 10, width: 320, height: 240)
    let file = MemoryFile(isSeekable: false)
    let writer = WebMWriter(file: file)
    try WebMTesting.write(WebMTesting.media, to: writer)
    for (index, frame) in large.video.enumerated() {
      try writer.write(video: frame.data, at: CodecTesting.time(0) + .milliseconds(3000 + 33 * index))
    }
    let summary = try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.segmentSize == nil && parsed.duration == nil && parsed.cues.isEmpty && parsed.seeks.count == 2)
    #expect(parsed.clusters.count >= 3 && parsed.clusters.allSatisfy { !$0.hasSize })
    #expect(parsed.blocks(track: 1).count == WebMTesting.media.video.count + 10 && summary.videoFrames == 100)
    #expect(summary.bytes == file.bytes.count && !parsed.isCut)
    try WebMTesting.withFile(file.bytes) { path in
      let decoded = try FFmpeg.decode(path)
      #expect(decoded.pictures == 100 && decoded.errors.isEmpty, "\(decoded.errors)")
    }
    // A reader that goes.
    let cut = MemoryFile(room: 20_000, isSeekable: false)
    cut.refusal = .stream(reason: "gone")
    let ended = WebMWriter(file: cut)
    #expect(throws: WebMError.stream(reason: "gone")) { try WebMTesting.write(WebMTesting.media, to: ended) }
    #expect(ended.hasEnded && cut.refusals == 1)
  }

  @Test func withoutKeyFrameNothingIsWritten() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file)
    for index in 0..<2000 {
      try writer.write(audio: sound, at: at(index * 20))
      try writer.write(video: delta, at: at(index * 20))
    }
    #expect(try writer.finish() == WebMSummary())
    #expect(file.bytes.isEmpty && writer.hasEnded)
    try writer.write(video: key, at: at(0))
    #expect(file.bytes.isEmpty)
  }

  @Test func aTrackThatFallsSilentHoldsUpNothing() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file)
    try writer.write(video: key, at: at(0))
    for index in 1...60 { try writer.write(video: delta, at: at(index * 33)) }
    #expect(writer.summary.videoFrames >= 44)
    // Late sound does not turn time back.
    try writer.write(audio: sound, at: at(40))
    try writer.write(audio: sound, at: at(1990))
    try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.blocks(track: 1).map(\.time) == (0...60).map { $0 * 33 })
    #expect(zip(parsed.blocks, parsed.blocks.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(parsed.blocks(track: 2).count == 2)
  }

  @Test func soundAloneIsARecording() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file, tracks: WebMTracks(hasVideo: false, audioChannels: 2), unixTime: { 0 })
    for index in 0..<500 {
      try writer.write(video: key, at: at(index * 20))
      try writer.write(audio: sound, at: at(index * 20))
    }
    #expect(try writer.finish().duration == .seconds(10))
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.duration == 10_000 && parsed.clusters.count == 10)
    #expect(parsed.cues.map(\.time) == [0, 2000, 4000, 6000, 8000])
    #expect(parsed.codecPrivate[9] == 2)
  }

  @Test func picturesAloneAreARecording() throws {
    let file = try WebMTesting.record(tracks: WebMTracks(audioChannels: nil))
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.blocks.count == WebMTesting.media.video.count && parsed.codecPrivate.isEmpty)
  }

  @Test func aLongPauseBeginsANewCluster() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file, tracks: WebMTracks(audioChannels: nil))
    for time in [0, 33, 40_000, 90_000_000] { try writer.write(video: time == 0 ? key : delta, at: at(time)) }
    try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.blocks.map(\.time) == [0, 33, 40_000, 90_000_000])
    // The last picture counts for no more than a second.
    #expect(parsed.duration == 90_001_000)
  }

  @Test func theTrackIsAsLargeAsItsLargestPicture() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file, tracks: WebMTracks(audioChannels: nil))
    for (index, size) in [(640, 360), (320, 180), (1280, 720), (1280, 720), (640, 360)].enumerated() {
      try writer.write(video: keyFrame(size.0, size.1), at: at(index * 2000))
    }
    let summary = try writer.finish()
    let parsed = ParsedWebM(file.bytes)
    #expect(parsed.width == 1280 && parsed.height == 720 && parsed.clusters.count == 5)
    #expect(summary.width == 1280 && summary.height == 720 && summary.sizeChanges == 3)
  }

  @Test func memoryStaysBoundedOverAWeek() throws {
    let file = CountingFile()
    let writer = WebMWriter(file: file, tracks: WebMTracks(audioChannels: nil))
    for second in stride(from: 0, to: 7 * 86_400, by: 10) { try writer.write(video: key, at: at(second * 1000)) }
    let before = file.count
    let summary = try writer.finish()
    #expect(summary.videoFrames == 60_480)
    #expect(summary.bytes - before < 8192 * 20)
  }

  @Test func hiddenFramesAreMarked() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file, tracks: WebMTracks(audioChannels: nil))
    try writer.write(video: key, at: at(0))
    try writer.write(video: [0x01, 0, 0], at: at(33))
    try writer.finish()
    #expect(ParsedWebM(file.bytes).blocks.map(\.flags) == [0x80, 0x08])
  }

  @Test func whileItGrowsEveryPrefixIsARecording() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file)
    var seen = 0
    for (index, frame) in WebMTesting.media.video.enumerated() {
      for packet in WebMTesting.media.audio where packet.captureTime <= frame.captureTime {
        if packet.captureTime > frame.captureTime - .milliseconds(34) || index == 0 {
          try writer.write(audio: packet.data, at: packet.captureTime)
        }
      }
      try writer.write(video: frame.data, at: frame.captureTime)
      let parsed = ParsedWebM(file.bytes)
      #expect(!parsed.isCut && parsed.blocks(track: 1).count == writer.summary.videoFrames)
      #expect(parsed.clusters.dropLast().allSatisfy { $0.hasSize })
      seen = parsed.blocks(track: 1).count
    }
    #expect(seen > 80)
    // The duration of what a kill leaves is right to the second.
    let left = ParsedWebM(file.bytes)
    #expect(left.segmentSize == nil && left.duration.map { $0 > 1900 } == true)
  }

  @Test func playersOfOtherSizesOfPacketsGetTheirDuration() throws {
    // RFC 6716 section 3.1: 60 ms SILK, 2.5 ms CELT, two of 10 ms, six of 20 ms; and what is no packet.
    let packets: [([UInt8], Int?)] = [
      ([0x18], 60), ([0xe0], 3), ([0x61], 20), ([0xfb, 6], 120), ([0xfb, 7], nil), ([0xfb], nil), ([0x03, 0], nil),
      ([], nil),
    ]
    for (packet, milliseconds) in packets {
      let writer = WebMWriter(file: MemoryFile(), tracks: WebMTracks(hasVideo: false))
      try writer.write(audio: packet, at: at(0))
      #expect(try writer.finish().duration == .milliseconds(milliseconds ?? 0))
    }
  }
}

/// Knows only how long it is.
private final class CountingFile: WebMFile {
  private(set) var count = 0
  func append(_ bytes: [UInt8]) throws(WebMError) { count += bytes.count }
  func overwrite(_ bytes: [UInt8], at offset: Int) throws(WebMError) {}
  func truncate(to count: Int) throws(WebMError) { self.count = count }
  func synchronize() throws(WebMError) {}
}
