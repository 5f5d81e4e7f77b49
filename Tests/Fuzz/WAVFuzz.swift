import Devices

/// A WAV file that somebody put there: opened and read for a few blocks.
enum WAVFuzz: FuzzBody {
  static let name = "WAV"

  static let seeds: [[UInt8]] = [
    file(rate: 48000, channels: 1, frames: 300), file(rate: 8000, channels: 2, frames: 40),
    file(rate: 44100, channels: 1, frames: 5),
  ]

  static func run(_ input: [UInt8]) {
    guard var reader = try? WAVReader(MemoryFile(bytes: input), name: "fuzz") else { return }
    for _ in 0..<2 {
      guard let block = try? reader.nextBlock() else { return }
      precondition(block.count == 960, "a block is 20 ms")
    }
  }

  private static func file(rate: UInt32, channels: UInt8, frames: Int) -> [UInt8] {
    let data = (0..<frames * 2 * Int(channels)).map { UInt8(truncatingIfNeeded: $0 * 37) }
    // Appended one by one: one sum of them all takes the type checker too long.
    var file = Array("RIFF".utf8)
    file += little(UInt32(36 + data.count))
    file += Array("WAVEfmt ".utf8)
    file += little(16) + [1, 0, channels, 0] + little(rate)
    file += little(rate * 2 * UInt32(channels)) + [2 * channels, 0, 16, 0]
    file += Array("LIST".utf8) + little(3) + [1, 2, 3, 0]
    file += Array("data".utf8) + little(UInt32(data.count)) + data
    return file
  }

  private static func little(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
