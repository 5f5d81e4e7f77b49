/// The body of a response without an end, in pieces that are sent as they come.
///
/// A client that takes them too slowly misses some: what waits for it is bounded, and all of that is dropped when there is more.
/// One that takes nothing is closed after a few seconds (`WriteBacklog`).
///
/// `@unchecked Sendable` because it is confined to the event loop of its connection.
public final class HTTPStream: @unchecked Sendable {
  /// The connection on which it is sent.
  struct Connection {
    /// The kernel has everything that was written before.
    var isReady: () -> Bool
    var write: ([UInt8]) -> Void
    var close: () -> Void
  }

  private enum State {
    /// The response has not been sent yet.
    case waiting
    case connected(Connection)
    case ended
  }

  private let maximumWaitingBytes: Int
  private var state: State = .waiting
  private var waiting: [UInt8] = []
  /// Pieces that the connection has been given, and their bytes.
  public private(set) var sentPieces: UInt64 = 0
  public private(set) var sentBytes: UInt64 = 0
  private var waitingPieces: UInt64 = 0
  /// Pieces that were dropped because the client was too slow.
  public private(set) var droppedPieces: UInt64 = 0
  /// Called once: the connection is gone, whoever has ended it.
  public var ended: () -> Void = {}

  /// - Parameter maximumWaitingBytes: of pieces that the client has no room for yet; a piece that is larger is dropped.
  public init(maximumWaitingBytes: Int) {
    self.maximumWaitingBytes = maximumWaitingBytes
  }

  /// Sends a piece, or drops it.
  public func send(_ piece: [UInt8]) {
    if case .ended = state { return }
    if waiting.count + piece.count > maximumWaitingBytes {
      droppedPieces += waitingPieces
      (waiting, waitingPieces) = ([], 0)
    }
    guard piece.count <= maximumWaitingBytes else { return droppedPieces += 1 }
    waiting += piece
    waitingPieces += 1
    flush()
  }

  /// Closes the connection. The body has no proper end then, so that the client knows that this was none.
  public func close() {
    if case .connected(let connection) = state { connection.close() }
    connectionEnded()
  }

  // MARK: The connection's side

  func connect(_ connection: Connection) {
    guard case .waiting = state else { return connection.close() }
    state = .connected(connection)
    flush()
  }

  /// The client may have room again.
  func flush() {
    guard case .connected(let connection) = state, !waiting.isEmpty, connection.isReady() else { return }
    let bytes = waiting
    sentPieces += waitingPieces
    sentBytes += UInt64(bytes.count)
    (waiting, waitingPieces) = ([], 0)
    connection.write(bytes)
  }

  func connectionEnded() {
    if case .ended = state { return }
    state = .ended
    (waiting, waitingPieces) = ([], 0)
    ended()
    ended = {}
  }
}
