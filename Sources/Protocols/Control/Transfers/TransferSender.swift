internal import Wire

/// Splits a transfer into binary messages: a 4-byte big-endian transfer number, then the data.
/// interfaces/wire.md, "Data channel", `screenshot.take` and `recordings.read`.
public struct TransferSender: Sendable {
  public let document: TransferDocument
  private var rest: ArraySlice<UInt8>

  private static let maximumPayload = ControlLimits.messageBytes - 4

  /// - Parameters:
  ///   - number: unique within the session.
  ///   - type: the media type.
  ///   - width, height: pixels of a still.
  ///   - total: bytes of the whole of which this is a piece.
  public init(number: UInt32, bytes: [UInt8], type: String, width: Int = 0, height: Int = 0, total: Int? = nil) {
    document = TransferDocument(
      transfer: number, size: bytes.count, type: type, width: width, height: height, total: total)
    rest = bytes[...]
  }

  /// The next message, at most `ControlLimits.messageBytes`; nil when everything has been sent. It stays the same until
  /// `advance`, so nothing is lost when the send buffer is full.
  public var message: [UInt8]? {
    guard !rest.isEmpty else { return nil }
    let payload = rest.prefix(Self.maximumPayload)
    var writer = ByteWriter(reservingCapacity: payload.count + 4)
    writer.write(document.transfer)
    writer.write(contentsOf: payload)
    return writer.bytes
  }

  /// The message has been sent.
  public mutating func advance() {
    rest = rest.dropFirst(Self.maximumPayload)
  }
}
