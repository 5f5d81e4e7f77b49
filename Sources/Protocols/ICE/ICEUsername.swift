internal import STUN
internal import Wire

/// USERNAME of a check, `receiver:sender`. RFC 8445 section 7.2.2.
public struct ICEUsername: Hashable, Sendable {
  /// The receiver's fragment: ours in the peer's requests.
  public var local: String
  public var remote: String

  init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    (local, remote) = (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  /// Reads it from a Binding request, without checking anything else, so that a shell with one socket can find the peer.
  public init?(ofBindingRequest datagram: [UInt8]) {
    guard STUNMessage.isSTUN(datagram), datagram[0] == 0, datagram[1] == 1 else { return nil }
    var reader = ByteReader(datagram[STUNConstants.headerLength...])
    for _ in 0..<STUNConstants.maximumAttributes {
      guard let type = try? reader.readUInt16(), let length = try? reader.readUInt16(),
        let value = try? reader.readBytes(Int(length))
      else { return nil }
      if type == STUNAttributeType.username.rawValue {
        guard length <= 513, let text = String(validating: value, as: UTF8.self) else { return nil }
        self.init(text)
        return
      }
      guard (try? reader.skip((4 - Int(length) % 4) % 4)) != nil else { return nil }
    }
    return nil
  }
}
