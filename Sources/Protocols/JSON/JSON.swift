/// Why bytes are not JSON that this reader accepts.
public enum JSONError: Error, Hashable, Sendable {
  /// More bytes than the reader allows.
  case tooLong
  /// Deeper nesting than the reader allows; the offset of the array or object that is one too deep.
  case tooDeep(offset: Int)
  /// An object names a member twice, so two readers could understand two things (RFC 8259 section 4). The offset of the
  /// second name.
  case duplicateMember(String, offset: Int)
  /// The offset of the first byte that is not allowed there, or the end of the input when something is missing.
  case malformed(offset: Int)
}

/// A JSON value, RFC 8259: the one reader and writer for everything the programs send, receive and store.
///
/// Reading is strict and bounded: one value and nothing after it, a limit on size and depth, no member twice.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  /// Whole numbers are exact up to 2^53. The reader only returns finite numbers; the writer writes others as `null`,
  /// because JSON has no form for them.
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads one value and nothing after it.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8.
  ///   - maximumBytes: longer input is refused unread.
  ///   - maximumDepth: how many arrays and objects may be nested.
  public init(_ bytes: [UInt8], maximumBytes: Int, maximumDepth: Int = 16) throws(JSONError) {
    guard bytes.count <= maximumBytes else { throw .tooLong }
    var reader = JSONReader(bytes: bytes, maximumDepth: maximumDepth)
    self = try reader.readAll()
  }

  /// The members; nil if this is not an object.
  public var object: [String: JSON]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The text; nil if this is not a string.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
