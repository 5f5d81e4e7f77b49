/// Why this reader rejects its input.
public enum JSONError: Error, Hashable, Sendable {
  /// More bytes than the reader allows.
  case tooLong
  /// Deeper nesting than the reader allows; the offset of the first array or object that is too deep.
  case tooDeep(offset: Int)
  /// An object contains a member twice, which readers interpret differently (RFC 8259 section 4). The offset of the
  /// second name.
  case duplicateMember(String, offset: Int)
  /// The offset of the first byte that is not allowed there, or the end of the input when something is missing.
  case malformed(offset: Int)
}

/// A JSON value, RFC 8259: the only reader and writer for everything the programs send, receive and store.
///
/// Reading is strict and bounded: a single value with nothing after it, limited size and depth, no duplicate members.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  /// Whole numbers are exact up to 2^53. The reader only returns finite numbers; the writer writes others as `null`,
  /// because JSON cannot represent them.
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads one value and nothing after it.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8.
  ///   - maximumBytes: longer input is rejected unread.
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
