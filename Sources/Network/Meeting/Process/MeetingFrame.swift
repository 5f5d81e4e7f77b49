internal import Wire

/// What the two processes say to each other over a socket pair: each frame is its length in four bytes, and that many bytes.
/// An empty one is a sign of life. Both are one program, so there are no versions; what does not fit is an error all the same,
/// because a server may have taken over the process that reads its bytes.
enum MeetingFrame {
  /// The longest: a stanza of 64 KiB in which each character is escaped.
  static let maximumBytes = 512 * 1024

  static func bytes(_ write: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(UInt32(0))
    write(&writer)
    writer.patch(UInt32(writer.count - 4), at: 0)
    return writer.bytes
  }

  static let signOfLife: [UInt8] = [0, 0, 0, 0]
}

/// Takes frames out of what has been read so far.
struct MeetingFrameReader {
  private var bytes: [UInt8] = []

  mutating func add(_ more: some Sequence<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// The frames that are complete; what follows them is kept. Throws `WireError` for one that is too long.
  mutating func frames() throws(WireError) -> [ArraySlice<UInt8>] {
    var frames: [ArraySlice<UInt8>] = []
    var rest = ByteReader(bytes)
    while rest.remaining >= 4 {
      var next = rest
      let count = Int(try next.readUInt32())
      guard count <= MeetingFrame.maximumBytes else { throw .malformed("a frame is too long") }
      guard next.remaining >= count else { break }
      frames.append(try next.readBytes(count))
      rest = next
    }
    if !frames.isEmpty { bytes = Array(rest.readRest()) }
    return frames
  }
}

/// What a frame contains.
protocol MeetingCoded {
  func write(to writer: inout ByteWriter)
  init(from reader: inout ByteReader) throws(WireError)
}

extension ByteWriter {
  mutating func write(text: String) {
    write(counted: Array(text.utf8))
  }

  mutating func write(counted bytes: [UInt8]) {
    write(UInt32(truncatingIfNeeded: bytes.count))
    write(contentsOf: bytes)
  }

  mutating func write(flag: Bool) {
    write(flag ? UInt8(1) : 0)
  }

  mutating func write<Value>(optional value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
    self.write(flag: value != nil)
    if let value { write(&self, value) }
  }

  mutating func write(optionalText text: String?) {
    write(optional: text) { $0.write(text: $1) }
  }
}

extension ByteReader {
  mutating func readCounted() throws(WireError) -> [UInt8] {
    Array(try readBytes(Int(try readUInt32())))
  }

  mutating func readText() throws(WireError) -> String {
    guard let text = String(validating: try readCounted(), as: UTF8.self) else {
      throw .malformed("a text is not UTF-8")
    }
    return text
  }

  mutating func readFlag() throws(WireError) -> Bool {
    switch try readUInt8() {
    case 0: return false
    case 1: return true
    default: throw .malformed("a flag is 0 or 1")
    }
  }

  mutating func readOptionalText() throws(WireError) -> String? {
    try readFlag() ? try readText() : nil
  }

  /// Throws if something is left.
  func end() throws(WireError) {
    guard isAtEnd else { throw .malformed("a frame has more than it should") }
  }
}
