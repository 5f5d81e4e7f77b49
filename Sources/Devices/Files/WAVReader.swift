internal import Frames

/// The format and position of the samples in a RIFF WAVE file (Multimedia Programming Interface 1.0, 1991, "WAVE").
struct WAVHeader: Hashable, Sendable {
  /// Frames (a sample for each channel) per second.
  var sampleRate: Int
  /// 1 or 2.
  var channels: Int
  /// Offset of the samples, in bytes.
  var dataOffset: Int
  /// Whole frames.
  var frameCount: Int

  static let sampleRates = 8000...48000
  private static let maximumChunks = 64

  static func parse(_ bytes: some RandomAccessBytes) throws(WAVError) -> WAVHeader {
    let beginning = try slice(bytes, at: 0, count: 12)
    guard beginning.count == 12, beginning.starts(with: "RIFF".utf8), beginning[8...].elementsEqual("WAVE".utf8) else {
      throw .malformed("not a WAV file (it does not begin with RIFF and WAVE)")
    }
    var offset = 12
    var format: (sampleRate: Int, channels: Int)?
    for _ in 0..<maximumChunks {
      let chunk = try slice(bytes, at: offset, count: 8)
      guard chunk.count == 8 else { break }
      let size = Int(littleEndian32(chunk[4...]))
      let content = offset + 8
      if chunk.starts(with: "fmt ".utf8) {
        format = try parseFormat(try slice(bytes, at: content, count: min(size, 40)))
      } else if chunk.starts(with: "data".utf8) {
        guard let format else { throw .malformed("its samples come before their format") }
        // Programs that write to a pipe leave the size at 0 or the maximum: read to the end of the file.
        let there = bytes.count - content
        let length = size == 0 || size > there ? there : size
        let frames = length / (2 * format.channels)
        guard frames > 0 else { throw .malformed("it holds no sound") }
        return WAVHeader(
          sampleRate: format.sampleRate, channels: format.channels, dataOffset: content, frameCount: frames)
      }
      // Chunks are padded to even lengths.
      offset = content + size + (size & 1)
    }
    throw .malformed(format == nil ? "it has no fmt chunk" : "it has no data chunk")
  }

  private static func parseFormat(_ bytes: [UInt8]) throws(WAVError) -> (sampleRate: Int, channels: Int) {
    guard bytes.count >= 16 else { throw .malformed("its fmt chunk is too short") }
    var tag = littleEndian16(bytes[0...])
    // WAVE_FORMAT_EXTENSIBLE: the actual tag is the first two bytes of the SubFormat GUID.
    if tag == 0xfffe, bytes.count >= 26 { tag = littleEndian16(bytes[24...]) }
    let channels = Int(littleEndian16(bytes[2...]))
    let rate = Int(littleEndian32(bytes[4...]))
    guard tag == 1, littleEndian16(bytes[14...]) == 16 else {
      throw .malformed("its samples are not 16-bit PCM (ffmpeg -c:a pcm_s16le makes them)")
    }
    guard 1...2 ~= channels else { throw .malformed("it has \(channels) channels; one or two can be read") }
    guard sampleRates ~= rate else { throw .malformed("its rate of \(rate) Hz is not between 8000 and 48000") }
    return (rate, channels)
  }

  private static func slice(
    _ bytes: some RandomAccessBytes, at offset: Int, count: Int
  ) throws(WAVError) -> [UInt8] {
    do throws(DeviceError) {
      return try bytes.bytes(at: offset, count: count)
    } catch {
      throw .device(error)
    }
  }

  private static func littleEndian16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    UInt16(bytes[bytes.startIndex]) | UInt16(bytes[bytes.startIndex + 1]) << 8
  }

  private static func littleEndian32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    UInt32(littleEndian16(bytes)) | UInt32(littleEndian16(bytes.dropFirst(2))) << 16
  }
}

/// Why a WAV file cannot be read.
enum WAVError: Error, Hashable, Sendable {
  case malformed(String)
  case device(DeviceError)

  func deviceError(_ name: String) -> DeviceError {
    switch self {
    case .malformed(let text): DeviceError(device: name, reason: .invalidFile(text))
    case .device(let error): error
    }
  }
}

/// Reads a WAV file in a loop, as 48 kHz mono. Stereo is averaged and other rates are interpolated linearly: good
/// enough for a sound in place of a microphone.
package struct WAVReader: Sendable {
  let header: WAVHeader
  private let bytes: any RandomAccessBytes
  private let name: String
  /// The frames either side of the next output sample, and its distance from the first, in 1/48000.
  private var before: Int16 = 0
  private var after: Int16 = 0
  private var fraction = 0
  /// The frame after `after`.
  private var index = 0
  private var window: [UInt8] = []
  private var windowStart = 0
  private static let windowFrames = 4096

  package init(_ bytes: any RandomAccessBytes, name: String) throws(DeviceError) {
    self.bytes = bytes
    self.name = name
    do throws(WAVError) {
      header = try WAVHeader.parse(bytes)
    } catch {
      throw error.deviceError(name)
    }
    before = try nextFrame()
    after = try nextFrame()
  }

  /// 20 ms.
  package mutating func nextBlock() throws(DeviceError) -> [Int16] {
    var result: [Int16] = []
    result.reserveCapacity(AudioFormat.samplesPerBlock)
    for _ in 0..<AudioFormat.samplesPerBlock {
      let step = (Int(after) - Int(before)) * fraction / AudioFormat.sampleRate
      result.append(Int16(truncatingIfNeeded: Int(before) + step))
      fraction += header.sampleRate
      while fraction >= AudioFormat.sampleRate {
        fraction -= AudioFormat.sampleRate
        before = after
        after = try nextFrame()
      }
    }
    return result
  }

  /// One frame mixed down to one sample; wraps after the last frame.
  private mutating func nextFrame() throws(DeviceError) -> Int16 {
    let frameBytes = 2 * header.channels
    if index == header.frameCount { index = 0 }
    if index < windowStart || (index - windowStart + 1) * frameBytes > window.count {
      windowStart = index
      let frames = min(Self.windowFrames, header.frameCount - index)
      window = try bytes.bytes(at: header.dataOffset + index * frameBytes, count: frames * frameBytes)
      guard window.count >= frameBytes else {
        throw DeviceError(device: name, reason: .invalidFile("it became shorter while it was read"))
      }
    }
    let position = (index - windowStart) * frameBytes
    index += 1
    let left = sample(at: position)
    guard header.channels == 2 else { return left }
    return Int16((Int(left) + Int(sample(at: position + 2))) / 2)
  }

  private func sample(at position: Int) -> Int16 {
    Int16(bitPattern: UInt16(window[position]) | UInt16(window[position + 1]) << 8)
  }
}
