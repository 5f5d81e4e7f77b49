@testable import Devices

/// A file in memory.
struct ByteArray: RandomAccessBytes {
  var bytes: [UInt8]
  var count: Int { bytes.count }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DeviceError) -> Int {
    guard offset >= 0, offset < bytes.count else { return 0 }
    let part = bytes[offset..<min(bytes.count, offset + buffer.count)]
    buffer.copyBytes(from: part)
    return part.count
  }
}

/// Builds small media files.
enum MediaBytes {
  /// Pictures of one luma each, chroma 128.
  static func y4m(
    header: String = "W32 H16 F25:1 Ip A1:1 C420jpeg", lumas: [UInt8], width: Int = 32, height: Int = 16
  ) -> [UInt8] {
    let chroma = 2 * ((width + 1) / 2) * ((height + 1) / 2)
    return Array("YUV4MPEG2 \(header)\n".utf8)
      + lumas.flatMap { luma in
        Array("FRAME\n".utf8) + [UInt8](repeating: luma, count: width * height)
          + [UInt8](repeating: 128, count: chroma)
      }
  }

  static func wav(rate: Int = 48000, channels: Int = 1, bits: Int = 16, samples: [Int16]) -> [UInt8] {
    let data = samples.flatMap { little16(UInt16(bitPattern: $0)) }
    let format =
      little16(1) + little16(UInt16(channels)) + little32(UInt32(rate)) + little32(UInt32(rate * channels * bits / 8))
      + little16(UInt16(channels * bits / 8)) + little16(UInt16(bits))
    let body = chunk("fmt ", format) + chunk("data", data)
    return Array("RIFF".utf8) + little32(UInt32(4 + body.count)) + Array("WAVE".utf8) + body
  }

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little32(UInt32(content.count)) + content + (content.count % 2 == 1 ? [0] : [])
  }

  static func little16(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8)] }
  static func little32(_ value: UInt32) -> [UInt8] {
    little16(UInt16(value & 0xffff)) + little16(UInt16(value >> 16))
  }
}
