import Codecs
import Foundation
import Frames
import Picture
import Sound
import Testing
import Wire

/// A recording in memory; `room` is how many bytes its disk has.
final class MemoryFile: WebMFile {
  private(set) var bytes: [UInt8] = []
  private(set) var refusals = 0
  private(set) var isSynchronized = false
  var room: Int
  /// What a full disk answers.
  var refusal = WebMError.diskFull
  /// False: as a pipe.
  let isSeekable: Bool

  init(room: Int = .max, isSeekable: Bool = true) {
    self.room = room
    self.isSeekable = isSeekable
  }

  func append(_ more: [UInt8]) throws(WebMError) {
    guard bytes.count + more.count <= room else {
      refusals += 1
      throw refusal
    }
    bytes += more
    isSynchronized = false
  }

  func overwrite(_ new: [UInt8], at offset: Int) throws(WebMError) {
    precondition(isSeekable && offset + new.count <= bytes.count)
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }

  func truncate(to count: Int) throws(WebMError) {
    precondition(isSeekable)
    bytes.removeLast(bytes.count - count)
  }
  func synchronize() throws(WebMError) { isSynchronized = true }
}

/// Frames as our encoders make them.
enum WebMTesting {
  struct Media: Sendable {
    var video: [EncodedVideoFrame] = []
    var audio: [EncodedAudioPacket] = []
  }

  /// Three seconds of 160x120 at 30 frames/s with a key frame each second, and the tone.
  static let media = try! encode(frames: 90, keyEvery: 30)

  static func encode(frames: Int, keyEvery: Int, width: Int = 160, height: Int = 120) throws -> Media {
    var media = Media()
    let encoder = try VP8Encoder(
      configuration: VP8EncoderConfiguration(width: width, height: height, bitrateKbps: 600, speed: -12))
    let picture = TestPicture(width: width, height: height)
    for index in 0..<frames {
      let frame = CodecTesting.frames(picture, index..<index + 1)[0]
      if let encoded = try encoder.encode(frame, forceKeyFrame: index % keyEvery == 0) { media.video.append(encoded) }
    }
    let opus = try OpusEncoder()
    var tone = ToneGenerator()
    for index in 0..<frames * 33_333_333 / 20_000_000 {
      let time = CodecTesting.time(0) + .milliseconds(20 * index)
      media.audio.append(
        try opus.encode(
          tone.makeBlock(
            captureTime: time, samplePosition: UInt64(index * 960),
            unixNanoseconds: CodecTesting.unixBase + Int64(index) * 20_000_000)))
    }
    return media
  }

  /// As they come from a peer: sound 60 ms before its picture.
  static func write(_ media: Media, to writer: WebMWriter) throws {
    var audio = media.audio[...]
    for frame in media.video {
      while let packet = audio.first, packet.captureTime <= frame.captureTime + .milliseconds(60) {
        try writer.write(audio: packet.data, at: packet.captureTime)
        audio.removeFirst()
      }
      try writer.write(video: frame.data, at: frame.captureTime)
    }
    for packet in audio { try writer.write(audio: packet.data, at: packet.captureTime) }
  }

  /// A whole recording.
  static func record(_ media: Media = media, tracks: WebMTracks = WebMTracks(), room: Int = .max) throws -> MemoryFile {
    let file = MemoryFile(room: room)
    let writer = WebMWriter(file: file, tracks: tracks)
    try write(media, to: writer)
    try writer.finish()
    return file
  }

  static func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let path = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).webm").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }
}

/// Programs of the package ffmpeg, as judges.
enum FFmpeg {
  struct Report: Decodable {
    struct Packet: Decodable {
      var codec_type: String
      var pts_time: String?
      var flags: String
    }
    struct Stream: Decodable {
      var codec_name: String
      var width: Int?
      var height: Int?
      var channels: Int?
      var sample_rate: String?
    }
    struct Format: Decodable { var duration: String? }
    var packets: [Packet]
    var streams: [Stream]
    var format: Format

    func times(_ type: String) -> [Double] {
      packets.filter { $0.codec_type == type }.compactMap { $0.pts_time.flatMap(Double.init) }
    }
  }

  static func probe(_ path: String, _ arguments: [String] = []) throws -> (report: Report, errors: String) {
    let result = try run(
      "ffprobe",
      ["-v", "error", "-of", "json", "-show_packets", "-show_streams", "-show_format"] + arguments + [path])
    try #require(result.status == 0, "\(result.errors)")
    return (try JSONDecoder().decode(Report.self, from: result.output), result.errors)
  }

  /// Decodes everything; how many pictures there were, and seconds of sound.
  static func decode(_ path: String, from seconds: Double? = nil) throws -> (pictures: Int, errors: String) {
    let seek = seconds.map { ["-ss", String($0)] } ?? []
    let result = try run(
      "ffmpeg",
      ["-v", "error", "-nostdin"] + seek + ["-i", path, "-f", "null", "-progress", "pipe:1", "-"])
    try #require(result.status == 0, "\(result.errors)")
    let frames = String(decoding: result.output, as: UTF8.self).split(separator: "\n").last { $0.hasPrefix("frame=") }
    return (frames.flatMap { Int($0.dropFirst(6)) } ?? 0, result.errors)
  }

  static func run(_ program: String, _ arguments: [String]) throws -> (output: Data, errors: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // Errors are few and fit the pipe.
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, complaints, process.terminationStatus)
  }
}
