import Codecs
import Wire

/// What a peer sends as frames, on its way into a recording.
enum WebMFuzz: FuzzBody {
  static let name = "WebM"

  /// A byte each for kind and distance in time, a length, and so many bytes of frame.
  static let seeds: [[UInt8]] = [
    frame(0, 0, key) + frame(1, 0, [0x78, 1, 2]) + frame(0, 33, [0x11, 0, 0, 7]) + frame(1, 20, [0x78, 3])
      + frame(0, 33, [0x11, 0, 0]) + frame(0, 200, key) + frame(1, 20, [0xfb, 3, 0]),
    frame(1, 0, [0x08]) + frame(0, 0, key) + frame(0, 255, [0x31, 0, 0]) + frame(0, 255, [0x31, 0, 0]),
  ]

  private static let key: [UInt8] = [0x10, 0, 0, 0x9d, 1, 0x2a, 160, 0, 120, 0, 9]

  private static func frame(_ kind: UInt8, _ milliseconds: UInt8, _ data: [UInt8]) -> [UInt8] {
    [kind, milliseconds, UInt8(data.count)] + data
  }

  static func run(_ input: [UInt8]) {
    let file = FullDisk()
    let writer = WebMWriter(file: file, tracks: WebMTracks(hasVideo: input.first.map { $0 & 0x80 == 0 } ?? true))
    var time = Instant.zero
    var rest = input[...]
    while let kind = rest.popFirst(), let distance = rest.popFirst(), let length = rest.popFirst() {
      let data = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      // Some run backwards, some jump.
      let scale: Int64 = kind & 0x40 == 0 ? 1 : 3_600_000
      time += .milliseconds(Int64(Int8(bitPattern: distance)) * scale)
      if kind & 1 == 0 { try? writer.write(video: data, at: time) } else { try? writer.write(audio: data, at: time) }
    }
    _ = try? writer.finish()
    precondition(file.count <= FullDisk.room, "a full disk takes nothing more")
  }
}

private final class FullDisk: WebMFile {
  static let room = 1500
  private(set) var count = 0

  func append(_ bytes: [UInt8]) throws(WebMError) {
    guard count + bytes.count <= Self.room else { throw .diskFull }
    count += bytes.count
  }

  func overwrite(_ bytes: [UInt8], at offset: Int) throws(WebMError) {
    precondition(offset + bytes.count <= count, "only what is there is overwritten")
  }

  func truncate(to count: Int) throws(WebMError) {
    precondition(count <= self.count, "nothing is added")
    self.count = count
  }

  func synchronize() throws(WebMError) {}
}
