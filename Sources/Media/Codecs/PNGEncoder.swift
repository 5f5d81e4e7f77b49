internal import CYUV
internal import CZlib
public import Frames

/// Encodes pictures as PNG (ISO/IEC 15948), for drawings: 8 bits a colour, no alpha, no palette.
public enum PNGEncoder {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  /// The bytes of a file.
  ///
  /// - Throws: `CodecError.failed` when there is no memory for it.
  public static func encode(_ frame: VideoFrame) throws(CodecError) -> [UInt8] {
    let stride = frame.width * 3
    var rgb = [UInt8](repeating: 0, count: stride * frame.height)
    // libyuv's "RAW" is R, G, B in this order in memory.
    let status = I420ToRAW(
      frame.y, Int32(frame.strideY), frame.u, Int32(frame.strideUV), frame.v, Int32(frame.strideUV), &rgb,
      Int32(stride), Int32(frame.width), Int32(frame.height))
    guard status == 0 else { throw .failed("I420ToRAW") }
    // Each row begins with the number of its filter; 2 is the difference to the row above, which is mostly zero here.
    var rows: [UInt8] = []
    rows.reserveCapacity((stride + 1) * frame.height)
    for row in 0..<frame.height {
      rows.append(row == 0 ? 0 : 2)
      for column in row * stride..<(row + 1) * stride {
        rows.append(row == 0 ? rgb[column] : rgb[column] &- rgb[column - stride])
      }
    }
    let capacity = Int(compressBound(uLong(rows.count)))
    var count = uLong(capacity)
    var isDone = false
    let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
      isDone = compress2(buffer.baseAddress, &count, rows, uLong(rows.count), Z_DEFAULT_COMPRESSION) == Z_OK
      initialized = isDone ? Int(count) : 0
    }
    guard isDone else { throw .failed("zlib") }
    let header = bigEndian(UInt32(frame.width)) + bigEndian(UInt32(frame.height)) + [8, 2, 0, 0, 0]
    return signature + chunk("IHDR", header) + chunk("IDAT", compressed) + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    let check = UInt32(truncatingIfNeeded: crc32(0, body, uInt(body.count)))
    return bigEndian(UInt32(content.count)) + body + bigEndian(check)
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}
