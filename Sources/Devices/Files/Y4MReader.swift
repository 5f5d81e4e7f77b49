package import Frames
internal import Glibc
package import Wire

/// The first line of a YUV4MPEG2 file, as in mjpegtools' yuv4mpeg(5).
struct Y4MHeader: Hashable, Sendable {
  /// Pixels.
  var width: Int
  var height: Int
  /// Frames per second, as a fraction.
  var rateNumerator: Int
  var rateDenominator: Int

  static let magic = "YUV4MPEG2"
  /// A longer line is not a header.
  static let maximumBytes = 1024

  /// The header and the offset after it; the error says what is wrong with `bytes`, the beginning of the file.
  static func parse(_ bytes: [UInt8]) throws(Y4MError) -> (header: Y4MHeader, length: Int) {
    guard bytes.starts(with: magic.utf8) else { throw Y4MError("not a Y4M file (it does not begin with \(magic))") }
    guard let end = bytes.prefix(maximumBytes).firstIndex(of: UInt8(ascii: "\n")) else {
      throw Y4MError("its first line does not end")
    }
    var width: Int?
    var height: Int?
    // Players assume 25 frames/s for a file that names no rate.
    var rate = (25, 1)
    for field in bytes[magic.utf8.count..<end].split(separator: UInt8(ascii: " ")) {
      let value = String(decoding: field.dropFirst(), as: UTF8.self)
      switch field.first {
      case UInt8(ascii: "W"): width = Int(value)
      case UInt8(ascii: "H"): height = Int(value)
      case UInt8(ascii: "F"): rate = try parseRate(value) ?? rate
      case UInt8(ascii: "C"): try requireFourTwoZero(value)
      default: break
      }
    }
    guard let width, let height, PictureBounds.areUsable(width: width, height: height) else {
      let size = width.flatMap { width in height.map { "\(width)x\($0)" } } ?? "none"
      throw Y4MError("its first line names no usable size, from 16x16 to 4096x2304, but \(size)")
    }
    return (Y4MHeader(width: width, height: height, rateNumerator: rate.0, rateDenominator: rate.1), end + 1)
  }

  /// Bytes of one picture: three planes without padding, odd sizes rounded up for chroma.
  var frameBytes: Int { width * height + 2 * chromaWidth * ((height + 1) / 2) }
  var chromaWidth: Int { (width + 1) / 2 }
  var framesPerSecond: Double { Double(rateNumerator) / Double(rateDenominator) }

  /// Nil for 0:0, which means unknown.
  private static func parseRate(_ text: String) throws(Y4MError) -> (Int, Int)? {
    let parts = text.split(separator: ":").map { Int($0) }
    guard parts.count == 2, let numerator = parts[0], let denominator = parts[1] else {
      throw Y4MError("its rate F\(text.printable(maximum: 24)) is no fraction")
    }
    if numerator == 0, denominator == 0 { return nil }
    guard 1...1_000_000 ~= numerator, 1...1_000_000 ~= denominator,
      0.1...240 ~= Double(numerator) / Double(denominator)
    else { throw Y4MError("its rate F\(text.printable(maximum: 24)) is not between 0.1 and 240") }
    return (numerator, denominator)
  }

  private static func requireFourTwoZero(_ name: String) throws(Y4MError) {
    // The 4:2:0 variants differ in chroma siting, by half a pixel; more than 8 bits have a suffix p10, p12, ….
    guard ["420", "420jpeg", "420mpeg2", "420paldv"].contains(name) else {
      throw Y4MError(
        "its colour space C\(name.printable(maximum: 24)) is not 8-bit 4:2:0 (ffmpeg -pix_fmt yuv420p makes one)")
    }
  }
}

/// Why a Y4M file cannot be read.
struct Y4MError: Error, Hashable, Sendable {
  var text: String
  init(_ text: String) { self.text = text }
}

/// Reads a Y4M file's pictures in a loop.
package struct Y4MReader: Sendable {
  let header: Y4MHeader
  private let bytes: any RandomAccessBytes
  private let name: String
  private let firstFrame: Int
  private var offset: Int
  private let pool: VideoFramePool
  private var picture: [UInt8]

  /// Maximum length of a FRAME line with parameters; a longer one means a broken file.
  private static let maximumFrameLine = 256

  /// Checks the header and that at least one picture is complete.
  package init(_ bytes: any RandomAccessBytes, name: String) throws(DeviceError) {
    self.bytes = bytes
    self.name = name
    let beginning = try bytes.bytes(at: 0, count: Y4MHeader.maximumBytes)
    do throws(Y4MError) {
      (header, firstFrame) = try Y4MHeader.parse(beginning)
    } catch {
      throw DeviceError(device: name, reason: .invalidFile(error.text))
    }
    offset = firstFrame
    pool = VideoFramePool(width: header.width & ~1, height: header.height & ~1)
    picture = []
    guard let start = try pictureStart(), start + header.frameBytes <= bytes.count else {
      throw DeviceError(device: name, reason: .invalidFile("it ends before its first picture does"))
    }
    picture = [UInt8](repeating: 0, count: header.frameBytes)
  }

  /// The size of the output frames: the file's, rounded down to even.
  package var width: Int { pool.width }
  package var height: Int { pool.height }

  /// The next picture; wraps after the last complete one.
  package mutating func next(captureTime: Instant, sequence: UInt64) throws(DeviceError) -> VideoFrame {
    var start = try pictureStart()
    if start.map({ $0 + header.frameBytes > bytes.count }) ?? true {
      offset = firstFrame
      start = try pictureStart()
    }
    guard let start, try read(at: start) else {
      throw DeviceError(device: name, reason: .invalidFile("it became shorter while it was read"))
    }
    offset = start + header.frameBytes
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    copy(to: frame)
    return frame
  }

  /// Offset of the next picture's first byte; nil at the end of the file. Throws if there is no FRAME line.
  private func pictureStart() throws(DeviceError) -> Int? {
    let line = try bytes.bytes(at: offset, count: Self.maximumFrameLine)
    guard !line.isEmpty else { return nil }
    guard line.starts(with: "FRAME".utf8), let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
      if let other = try? Y4MHeader.parse(line).header, offset > firstFrame {
        throw DeviceError(
          device: name,
          reason: .invalidFile(
            "another film begins at byte \(offset), of \(other.width)x\(other.height) after "
              + "\(header.width)x\(header.height); a file has one"))
      }
      if line.count < Self.maximumFrameLine, offset > firstFrame { return nil }
      throw DeviceError(device: name, reason: .invalidFile("no FRAME line at byte \(offset)"))
    }
    return offset + end + 1
  }

  private mutating func read(at start: Int) throws(DeviceError) -> Bool {
    var failure: DeviceError?
    var length = 0
    let bytes = bytes
    picture.withUnsafeMutableBytes { buffer in
      do throws(DeviceError) { length = try bytes.read(at: start, into: buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    return length == header.frameBytes
  }

  private func copy(to frame: VideoFrame) {
    picture.withUnsafeBufferPointer { source in
      let y = source.baseAddress!
      for row in 0..<frame.height { memcpy(frame.mutableY + row * frame.strideY, y + row * header.width, frame.width) }
      let u = y + header.width * header.height
      let v = u + header.chromaWidth * ((header.height + 1) / 2)
      for row in 0..<frame.height / 2 {
        memcpy(frame.mutableU + row * frame.strideUV, u + row * header.chromaWidth, frame.width / 2)
        memcpy(frame.mutableV + row * frame.strideUV, v + row * header.chromaWidth, frame.width / 2)
      }
    }
  }
}
