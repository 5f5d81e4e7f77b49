public import Wire

/// Why binary messages cannot be assembled.
public enum TransferError: Error, Hashable, Sendable {
  /// Not between 1 byte and `ControlLimits.transferBytes`.
  case badSize(Int)
  /// Too many transfers at a time, or the number is in use.
  case refused
  /// The message is too short for a transfer number, or the transfer was not announced.
  case stray
  /// More bytes than announced; the transfer is dropped.
  case tooLong
}

/// Reassembles transfers. Bounded in number, size and time, whatever the child sends.
public struct TransferReceiver: Sendable {
  public struct Received: Hashable, Sendable {
    public var document: TransferDocument
    public var bytes: [UInt8]
  }

  /// A transfer without progress for this long is dropped.
  public static let patience = Duration.seconds(15)
  private static let maximumTransfers = 4

  private struct Partial {
    var document: TransferDocument
    var bytes: [UInt8] = []
    var deadline: Instant
  }

  private var partials: [UInt32: Partial] = [:]

  public init() {}

  /// A reply has announced a transfer.
  public mutating func begin(_ document: TransferDocument, now: Instant) throws(TransferError) {
    guard (1...ControlLimits.transferBytes).contains(document.size) else { throw .badSize(document.size) }
    guard partials[document.transfer] == nil, partials.count < Self.maximumTransfers else { throw .refused }
    partials[document.transfer] = Partial(document: document, deadline: now + Self.patience)
  }

  /// Takes a binary message. Returns the transfer if this completes it.
  public mutating func receive(_ message: [UInt8], now: Instant) throws(TransferError) -> Received? {
    var reader = ByteReader(message)
    guard let number = try? reader.readUInt32(), var partial = partials.removeValue(forKey: number) else {
      throw .stray
    }
    let piece = reader.readRest()
    guard piece.count <= partial.document.size - partial.bytes.count else { throw .tooLong }
    partial.bytes.append(contentsOf: piece)
    if partial.bytes.count == partial.document.size {
      return Received(document: partial.document, bytes: partial.bytes)
    }
    // An empty piece is not progress.
    if !piece.isEmpty { partial.deadline = now + Self.patience }
    partials[number] = partial
    return nil
  }

  public var nextDeadline: Instant? { partials.values.lazy.map(\.deadline).min() }

  /// Drops transfers that made no progress, and returns them.
  public mutating func handleTimeout(now: Instant) -> [TransferDocument] {
    let late = partials.values.filter { $0.deadline <= now }.map(\.document)
    for document in late { partials[document.transfer] = nil }
    return late
  }
}
