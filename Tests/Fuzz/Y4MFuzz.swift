import Devices
import Frames
import Wire

/// A Y4M file that somebody put there: opened and read for a few pictures.
enum Y4MFuzz: FuzzBody {
  static let name = "Y4M"

  static let seeds: [[UInt8]] = [
    file("W16 H16 F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG", frames: ["FRAME", "FRAME"]),
    file("W16 H16 F30000:1001 C420", frames: ["FRAME Ip", "FRAME"]),
    file("W16 H16 F0:0", frames: ["FRAME"]),
  ]

  static func run(_ input: [UInt8]) {
    guard var reader = try? Y4MReader(MemoryFile(bytes: input), name: "fuzz") else { return }
    for sequence in 0..<4 {
      guard let frame = try? reader.next(captureTime: .zero, sequence: UInt64(sequence)) else { return }
      precondition(frame.width == reader.width && frame.height == reader.height, "a picture has the file's size")
    }
  }

  private static func file(_ header: String, frames: [String]) -> [UInt8] {
    Array("YUV4MPEG2 \(header)\n".utf8)
      + frames.flatMap { Array("\($0)\n".utf8) + [UInt8](repeating: 90, count: 16 * 16 * 3 / 2) }
  }
}

/// A file in memory.
struct MemoryFile: RandomAccessBytes {
  let bytes: [UInt8]
  var count: Int { bytes.count }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DeviceError) -> Int {
    guard offset >= 0, offset < bytes.count else { return 0 }
    let part = bytes[offset..<min(bytes.count, offset + buffer.count)]
    buffer.copyBytes(from: part)
    return part.count
  }
}
