import Codecs
import Foundation
import Frames
import Testing
import Wire

/// Judged by ffmpeg.
@Suite struct WebMPlayerTests {
  @Test func aPlayerFindsEveryFrameItsTimeAndTheDuration() throws {
    let media = WebMTesting.media
    try WebMTesting.withFile(try WebMTesting.record().bytes) { path in
      let (report, errors) = try FFmpeg.probe(path)
      #expect(errors.isEmpty, "\(errors)")
      #expect(report.streams.map(\.codec_name) == ["vp8", "opus"])
      #expect(report.streams[0].width == 160 && report.streams[0].height == 120)
      #expect(report.streams[1].channels == 1 && report.streams[1].sample_rate == "48000")
      let start = try #require(media.video.first?.captureTime)
      let times = report.times("video")
      #expect(times.count == media.video.count)
      for (time, frame) in zip(times, media.video) {
        #expect(abs(time - (frame.captureTime - start).inSeconds) < 0.00051)
      }
      // The player takes the decoder's delay off: what was captured at 0 sounds at 0.
      let sounds = report.times("audio")
      #expect(sounds.count == media.audio.count && abs((sounds.first ?? 1) + 0.0065) < 0.001)
      #expect(abs((report.format.duration.flatMap(Double.init) ?? 0) - 3) < 0.04)
      let keys = report.packets.filter { $0.codec_type == "video" && $0.flags.hasPrefix("K") }
      #expect(keys.compactMap { $0.pts_time.flatMap(Double.init) } == [0, 1, 2])
      let decoded = try FFmpeg.decode(path)
      #expect(decoded.pictures == media.video.count && decoded.errors.isEmpty)
    }
  }

  @Test func aPlayerSeeks() throws {
    try WebMTesting.withFile(try WebMTesting.record().bytes) { path in
      let (report, errors) = try FFmpeg.probe(path, ["-read_intervals", "1.7%+#1", "-select_streams", "v"])
      #expect(errors.isEmpty && report.times("video").first == 1.0)
      let rest = try FFmpeg.decode(path, from: 2)
      let expected = WebMTesting.media.video.count { $0.captureTime >= CodecTesting.time(60) }
      #expect(rest.pictures == expected && rest.errors.isEmpty)
    }
  }

  @Test func aPlayerPlaysWhatIsThereWhileItGrows() throws {
    let file = MemoryFile()
    let writer = WebMWriter(file: file)
    try WebMTesting.write(WebMTesting.media, to: writer)
    try WebMTesting.withFile(file.bytes) { path in
      let (report, errors) = try FFmpeg.probe(path)
      #expect(errors.isEmpty, "\(errors)")
      #expect(report.times("video").count == writer.summary.videoFrames && writer.summary.videoFrames > 80)
      #expect(try FFmpeg.decode(path).pictures == writer.summary.videoFrames)
    }
  }

  @Test func aPlayerFollowsAChangeOfSize() throws {
    var media = try WebMTesting.encode(frames: 15, keyEvery: 100)
    var larger = try WebMTesting.encode(frames: 15, keyEvery: 100, width: 320, height: 240)
    let gap = Duration.milliseconds(500)
    for index in larger.video.indices { larger.video[index].captureTime += gap }
    for index in larger.audio.indices { larger.audio[index].captureTime += gap }
    media.video += larger.video
    media.audio += larger.audio
    try WebMTesting.withFile(try WebMTesting.record(media).bytes) { path in
      let decoded = try FFmpeg.decode(path)
      #expect(decoded.pictures == media.video.count && decoded.errors.isEmpty, "\(decoded.errors)")
      let (report, _) = try FFmpeg.probe(path)
      #expect(report.streams[0].width == 320 && report.streams[0].height == 240)
    }
  }

  @Test func soundAlonePlays() throws {
    let file = try WebMTesting.record(tracks: WebMTracks(hasVideo: false))
    try WebMTesting.withFile(file.bytes) { path in
      let (report, errors) = try FFmpeg.probe(path)
      #expect(errors.isEmpty && report.streams.map(\.codec_name) == ["opus"])
      #expect(report.times("audio").count == WebMTesting.media.audio.count)
      #expect(try FFmpeg.decode(path, from: 1.5).errors.isEmpty)
    }
  }
}
