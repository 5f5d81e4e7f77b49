import Codecs
import Frames
import TestSupport
import Testing
import Wire

@Suite struct PixelConverterTests {
  /// The same conversion, slowly and plainly: luma of every pixel, chroma as the mean of what covers a 2×2 block.
  private func reference(
    _ bytes: [UInt8], _ format: PixelFormat, width: Int, height: Int, stride: Int
  ) -> (y: (Int, Int) -> Int, u: (Int, Int) -> Int, v: (Int, Int) -> Int) {
    let chroma = stride * height
    let half = (stride + 1) / 2
    let second = chroma + half * ((height + 1) / 2)
    func packed(_ offset: Int) -> (Int, Int) -> Int {
      { x, y in
        let lower = min(2 * y + 1, height - 1)
        return (Int(bytes[2 * y * stride + 4 * x + offset]) + Int(bytes[lower * stride + 4 * x + offset]) + 1) / 2
      }
    }
    switch format {
    case .yuyv: return ({ Int(bytes[$1 * stride + 2 * $0]) }, packed(1), packed(3))
    case .uyvy: return ({ Int(bytes[$1 * stride + 2 * $0 + 1]) }, packed(0), packed(2))
    case .grey: return ({ Int(bytes[$1 * stride + $0]) }, { _, _ in 128 }, { _, _ in 128 })
    case .nv12, .nv21:
      let swap = format == .nv21 ? 1 : 0
      return (
        { Int(bytes[$1 * stride + $0]) }, { Int(bytes[chroma + $1 * stride + 2 * $0 + swap]) },
        { Int(bytes[chroma + $1 * stride + 2 * $0 + 1 - swap]) }
      )
    case .yuv420, .yvu420:
      let (u, v) = format == .yuv420 ? (chroma, second) : (second, chroma)
      return (
        { Int(bytes[$1 * stride + $0]) }, { Int(bytes[u + $1 * half + $0]) }, { Int(bytes[v + $1 * half + $0]) }
      )
    }
  }

  @Test(arguments: PixelFormat.allCases, [(16, 8, 0), (70, 34, 0), (38, 6, 24)])
  func everyFormatIsConvertedExactly(format: PixelFormat, shape: (width: Int, height: Int, padding: Int)) throws {
    let (width, height, padding) = shape
    let stride = format.bytesPerLine(width: width) + padding
    var random = SeededGenerator(seed: UInt64(width))
    let bytes = (0..<format.byteCount(bytesPerLine: stride, height: height)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    let frame = try convert(bytes, format, width, height, stride)
    let expected = reference(bytes, format, width: width, height: height, stride: stride)
    var differences = 0
    for y in 0..<height {
      for x in 0..<width where Int(frame.y[y * frame.strideY + x]) != expected.y(x, y) { differences += 1 }
    }
    for y in 0..<height / 2 {
      for x in 0..<width / 2 {
        let index = y * frame.strideUV + x
        // Rounding of the mean is the library's own.
        if abs(Int(frame.u[index]) - expected.u(x, y)) > 1 { differences += 1 }
        if abs(Int(frame.v[index]) - expected.v(x, y)) > 1 { differences += 1 }
      }
    }
    #expect(differences == 0)
  }

  @Test(arguments: PixelFormat.allCases) func aShortBufferIsRefused(format: PixelFormat) {
    let whole = format.byteCount(bytesPerLine: format.bytesPerLine(width: 32), height: 16)
    #expect(throws: CodecError.self) { try convert([UInt8](repeating: 0, count: whole - 1), format, 32, 16, 0) }
    #expect(throws: CodecError.self) { try convert([], format, 32, 16, 0) }
    #expect(throws: Never.self) { try convert([UInt8](repeating: 0, count: whole), format, 32, 16, 0) }
  }

  @Test(arguments: PixelFormat.allCases) func anOddSizeFillsTheEvenFrame(format: PixelFormat) throws {
    let count = format.byteCount(bytesPerLine: format.bytesPerLine(width: 31), height: 15)
    let frame = try convert([UInt8](repeating: 77, count: count), format, 31, 15, 0)
    #expect(frame.width == 32 && frame.height == 16)
    #expect(frame.y[31] == 77 && frame.y[15 * frame.strideY + 31] == 77)
    let chroma = format == .grey ? 128 : 77
    #expect(frame.u[7 * frame.strideUV + 15] == chroma && frame.v[7 * frame.strideUV + 15] == chroma)
  }

  @Test func impossibleStridesAreRefused() {
    let bytes = [UInt8](repeating: 0, count: 4096)
    for stride in [-64, 1, 31, 1 << 21, .max] {
      #expect(throws: CodecError.self) { try convert(bytes, .grey, 32, 16, stride) }
    }
  }

  @Test func aPoolOfAnotherSizeIsRefused() {
    let pool = VideoFramePool(width: 64, height: 16)
    #expect(throws: CodecError.sizeMismatch(width: 32, height: 16)) {
      try [UInt8](repeating: 0, count: 4096).withUnsafeBytes {
        try PixelConverter.convert(
          $0, format: .grey, width: 32, height: 16, pool: pool, captureTime: .zero, sequence: 0)
      }
    }
  }

  private func convert(_ bytes: [UInt8], _ format: PixelFormat, _ width: Int, _ height: Int, _ stride: Int) throws
    -> VideoFrame
  {
    try bytes.withUnsafeBytes {
      try PixelConverter.convert(
        $0, format: format, width: width, height: height, bytesPerLine: stride,
        pool: VideoFramePool(width: width, height: height), captureTime: .zero, sequence: 0)
    }
  }
}
