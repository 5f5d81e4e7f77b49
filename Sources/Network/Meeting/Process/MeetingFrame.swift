internal import JSON
internal import Wire

/// What the two processes say to each other over a socket pair: each frame is its length in four bytes, and JSON of that many
/// bytes. An empty one is a sign of life. Both are one program, so there are no versions; what does not fit is an error all the
/// same, because a server may have taken over the process that reads its bytes.
enum MeetingFrame {
  /// The longest: a stanza of 64 KiB in which each character is escaped.
  static let maximumBytes = 512 * 1024

  static func bytes(_ value: some Encodable) -> [UInt8] {
    let text = JSON.text(value).utf8
    var writer = ByteWriter()
    writer.write(UInt32(truncatingIfNeeded: text.count))
    writer.write(contentsOf: Array(text))
    return writer.bytes
  }

  static func value<Value: Decodable>(_: Value.Type = Value.self, in frame: ArraySlice<UInt8>) throws(WireError)
    -> Value
  {
    guard let value = try? JSON(Array(frame), maximumBytes: maximumBytes).decode(Value.self) else {
      throw .malformed("a frame is not what it should be")
    }
    return value
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
