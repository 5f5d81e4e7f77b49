/// Takes apart what a player sends on its connection: requests, and packets between them. Bounded. RFC 2326 sections 4 and 10.12.
public struct RTSPReader: Sendable {
  public enum Item: Hashable, Sendable {
    case request(RTSPRequest)
    /// An RTP or RTCP packet of an interleaved channel.
    case packet(channel: UInt8, bytes: [UInt8])
  }

  /// What cannot be understood; the connection ends with it.
  public enum Failure: Error, Hashable, Sendable {
    case malformed
    case tooLong
    /// Another version than 1.0.
    case version
  }

  static let maximumHeadBytes = 8192
  static let maximumBodyBytes = 4096
  static let maximumHeaders = 64
  private static let dollar = UInt8(ascii: "$")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private var bytes: [UInt8] = []
  /// How many of them have no end of a head in them.
  private var searched = 0

  public init() {}

  /// Bytes that wait for the rest of what they begin: at most those of a packet, or of a head and its body.
  public var waitingBytes: Int { bytes.count }

  /// Call `next` until it returns nil after each piece.
  public mutating func append(_ more: some Sequence<UInt8>) {
    bytes += more
  }

  /// What is complete; nil while nothing is.
  public mutating func next() throws(Failure) -> Item? {
    // RFC 2616 section 4.1: empty lines before a request are ignored.
    let blank = bytes.prefix { $0 == Self.carriageReturn || $0 == Self.lineFeed }.count
    if blank > 0 { drop(blank) }
    guard let first = bytes.first else { return nil }
    if first == Self.dollar { return packet() }
    guard let end = headEnd() else {
      if bytes.count >= Self.maximumHeadBytes { throw .tooLong }
      return nil
    }
    let (request, bodyBytes) = try Self.request(bytes[..<end])
    guard bytes.count >= end + bodyBytes else { return nil }
    // Nothing that a player may ask needs a body.
    drop(end + bodyBytes)
    return .request(request)
  }

  private mutating func drop(_ count: Int) {
    bytes.removeFirst(count)
    searched = 0
  }

  private mutating func packet() -> Item? {
    guard bytes.count >= 4 else { return nil }
    let end = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
    guard bytes.count >= end else { return nil }
    defer { drop(end) }
    return .packet(channel: bytes[1], bytes: Array(bytes[4..<end]))
  }

  /// Behind the empty line.
  private mutating func headEnd() -> Int? {
    let head = bytes.prefix(Self.maximumHeadBytes)
    var index = max(0, searched - 3)
    while let feed = head[index...].firstIndex(of: Self.lineFeed) {
      let rest = head[(feed + 1)...]
      if rest.first == Self.lineFeed { return feed + 2 }
      if rest.starts(with: [Self.carriageReturn, Self.lineFeed]) { return feed + 3 }
      index = feed + 1
    }
    searched = head.count
    return nil
  }

  private static func request(_ head: ArraySlice<UInt8>) throws(Failure) -> (RTSPRequest, bodyBytes: Int) {
    guard let text = String(validating: head, as: UTF8.self) else { throw .malformed }
    let lines = text.split(whereSeparator: \.isNewline)
    guard let first = lines.first, lines.count <= maximumHeaders + 1 else { throw .malformed }
    let words = first.split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("RTSP/") else { throw .malformed }
    guard words[2].hasPrefix("RTSP/1.") else { throw .version }
    var headers: [RTSPRequest.Header] = []
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw .malformed }
      headers.append(.init(name: parts[0].trimmed().lowercased(), value: parts[1].trimmed()))
    }
    let request = RTSPRequest(method: String(words[0]), uri: String(words[1]), headers: headers)
    guard let length = request["content-length"] else { return (request, 0) }
    guard let count = Int(length), count >= 0 else { throw .malformed }
    guard count <= maximumBodyBytes else { throw .tooLong }
    return (request, count)
  }
}

extension Substring {
  /// Without blanks and tabs around it.
  func trimmed() -> String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let rest = drop(while: isBlank)
    guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(rest[...last])
  }
}
