internal import Frames
internal import Glibc
internal import Wire

/// Reads raw I420 pictures of one size from a descriptor that does not block, straight into frames.
struct PictureReader {
  enum Result {
    case frame(VideoFrame)
    /// Nothing more can be read now.
    case wait
    case end
    case failed(errno: Int32)
    /// In Y4M, a picture does not begin with FRAME: the program writes something else, or has lost its place.
    case notAPicture
    /// In Y4M, another first line follows, with another size.
    case sizeChanged(Y4MHeader)
  }

  /// `640x480`
  var size: String { "\(width)x\(height)" }

  /// Of the program's pictures; frames have even sizes.
  private let width: Int
  private let height: Int
  private let isY4M: Bool
  private let pool: VideoFramePool
  private var frame: VideoFrame?
  /// Bytes of the current picture that have arrived.
  private var position = 0
  private var sequence: UInt64 = 0
  /// The FRAME line so far; nil once it is complete.
  private var line: [UInt8]?
  /// For sizes at which a frame's rows are not where the program's are.
  private var packed: [UInt8]

  private static let maximumLine = 256

  /// - Parameter isY4M: each picture follows a FRAME line.
  init(width: Int, height: Int, isY4M: Bool) {
    self.width = width
    self.height = height
    self.isY4M = isY4M
    pool = VideoFramePool(width: width & ~1, height: height & ~1)
    let probe = pool.makeFrame(captureTime: .zero, sequence: 0)
    let isDirect = probe.strideY == width && probe.strideUV * 2 == width && height % 2 == 0
    packed = isDirect ? [] : [UInt8](repeating: 0, count: Self.bytes(width: width, height: height))
    line = isY4M ? [] : nil
  }

  static func bytes(width: Int, height: Int) -> Int {
    width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
  }

  /// Reads until a picture is complete or nothing more is there.
  mutating func read(from descriptor: Int32) -> Result {
    while true {
      if line != nil {
        if let result = readLine(descriptor) { return result }
        continue
      }
      if position == 0, frame == nil { frame = pool.makeFrame(captureTime: MonotonicClock.now, sequence: sequence) }
      let count = readPixels(descriptor)
      if count == 0 { return .end }
      guard count > 0 else {
        if errno == EINTR { continue }
        guard errno == EAGAIN else { return .failed(errno: errno) }
        // The capture time is when the first bytes arrive.
        if position == 0 { frame = nil }
        return .wait
      }
      position += count
      guard position == Self.bytes(width: width, height: height), let source = frame else { continue }
      defer {
        position = 0
        frame = nil
        sequence += 1
        if isY4M { line = [] }
      }
      return .frame(finish(source))
    }
  }

  private mutating func readPixels(_ descriptor: Int32) -> Int {
    let rest = Self.bytes(width: width, height: height) - position
    if packed.isEmpty, let frame { return Glibc.read(descriptor, frame.mutableY + position, rest) }
    let position = position
    return packed.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + position, rest) }
  }

  /// A byte at a time: the line has six of them, and what follows belongs to the picture. Nil: go on.
  private mutating func readLine(_ descriptor: Int32) -> Result? {
    var byte: UInt8 = 0
    let count = Glibc.read(descriptor, &byte, 1)
    if count == 0 { return .end }
    guard count > 0 else {
      if errno == EINTR { return nil }
      return errno == EAGAIN ? .wait : .failed(errno: errno)
    }
    guard byte == UInt8(ascii: "\n") else {
      line?.append(byte)
      let soFar = line ?? []
      let isFrame = zip(soFar, "FRAME".utf8).allSatisfy { $0 == $1 }
      let isHeader = zip(soFar, Y4MHeader.magic.utf8).allSatisfy { $0 == $1 }
      return soFar.count > Self.maximumLine || !isFrame && !isHeader ? .notAPicture : nil
    }
    if let header = try? Y4MHeader.parse((line ?? []) + [byte]).header {
      guard header.width == width, header.height == height else { return .sizeChanged(header) }
      // A program that begins again, or several after each other.
      line = []
      return nil
    }
    guard line?.starts(with: "FRAME".utf8) == true else { return .notAPicture }
    line = nil
    return nil
  }

  private func finish(_ source: VideoFrame) -> VideoFrame {
    guard !packed.isEmpty else { return source }
    let chromaWidth = (width + 1) / 2
    packed.withUnsafeBufferPointer { pixels in
      let y = pixels.baseAddress!
      for row in 0..<source.height {
        memcpy(source.mutableY + row * source.strideY, y + row * width, source.width)
      }
      let u = y + width * height
      let v = u + chromaWidth * ((height + 1) / 2)
      for row in 0..<source.height / 2 {
        memcpy(source.mutableU + row * source.strideUV, u + row * chromaWidth, source.width / 2)
        memcpy(source.mutableV + row * source.strideUV, v + row * chromaWidth, source.width / 2)
      }
    }
    return source
  }
}
