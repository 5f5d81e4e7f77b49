internal import Wire

/// Cuts the bytes behind a reply into binary messages: 4-byte big-endian transfer number, then bytes.
/// INTERFACES.md, "Data channel", `screenshot.take`.
public struct TransferSender: Sendable {
  public let document: TransferDocument
  private var rest: ArraySlice<UInt8>

  private static let maximumPayload = ControlLimits.messageBytes - 4

  /// - Parameters:
  ///   - number: another for each transfer of the session.
  ///   - type: the media type.
  ///   - width, height: pixels.
  public init(number: UInt32, bytes: [UInt8], type: String, width: Int, height: Int) {
    document = TransferDocument(transfer: number, size: bytes.count, type: type, width: width, height: height)
    rest = bytes[...]
  }

  /// The next message, at most `ControlLimits.messageBytes`; nil when all was sent. Stays the same until `advance`, so
  /// that a full buffer loses nothing.
  public var message: [UInt8]? {
    guard !rest.isEmpty else { return nil }
    let payload = rest.prefix(Self.maximumPayload)
    var writer = ByteWriter(reservingCapacity: payload.count + 4)
    writer.write(document.transfer)
    writer.write(contentsOf: payload)
    return writer.bytes
  }

  /// The message was taken.
  public mutating func advance() {
    rest = rest.dropFirst(Self.maximumPayload)
  }
}
