public import NIOCore
internal import NIOWebSocket
public import Wire

/// What one WebSocket may take of us.
public struct WebSocketLimits: Sendable {
  /// Of a text message, in as many frames as it comes.
  public var maximumMessageBytes = 64 * 1024
  public var maximumFragments = 256
  /// What waits for a peer that reads too slowly.
  public var maximumUnsentBytes = 512 * 1024
  /// Frames of any kind that may come at once, and the time for one more. An offer with its candidates is some twenty.
  public var frameBurst = 512
  public var frameInterval: Duration = .milliseconds(5)
  /// Routers forget a silent connection after a minute at the earliest.
  public var pingInterval: TimeAmount = .seconds(20)
  /// Pings in a row that nothing comes after.
  public var maximumUnansweredPings = 2
  /// From our close frame to the end of the connection.
  public var closeTimeout: TimeAmount = .seconds(2)

  public init() {}
}

/// Why a WebSocket is no more.
public enum WebSocketClosure: Hashable, Sendable {
  /// By a close frame of the peer; 1005 when it names no code. RFC 6455 section 7.4.
  case byPeer(code: Int, reason: String)
  case byUs(WebSocketCloseCode)
  /// Without a close frame, or nothing came for too long.
  case lost
}

/// The codes that we close with. RFC 6455 section 7.4.1.
public enum WebSocketCloseCode: Int, Hashable, Sendable {
  case normal = 1000
  case goingAway = 1001
  case protocolError = 1002
  /// Only text is understood.
  case unacceptableData = 1003
  /// The text is not UTF-8.
  case invalidText = 1007
  case policyViolation = 1008
  case messageTooLarge = 1009
  case tryAgainLater = 1013
}

/// One WebSocket (RFC 6455), either end: text messages both ways, kept alive by pings.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class WebSocketConnection: @unchecked Sendable {
  public let eventLoop: any EventLoop
  /// Nil when the socket has no IP address any more.
  public let remoteAddress: TransportAddress?
  /// Called on the event loop for each message; not after `onClose`.
  public var onText: (String) -> Void = { _ in }
  /// Called once, on the event loop, never from within `close` or `send`.
  public var onClose: (WebSocketClosure) -> Void = { _ in }
  private let handler: WebSocketHandler
  /// Its place at the server's limiter; nil on the client's side.
  private let limiter: ConnectionLimiterHandler?

  /// Completes the pipeline of an upgraded channel.
  init(channel: any Channel, role: WebSocketHandler.Role, limits: WebSocketLimits) throws {
    eventLoop = channel.eventLoop
    remoteAddress = channel.remoteAddress?.transportAddress
    handler = WebSocketHandler(role: role, limits: limits)
    limiter = try? channel.pipeline.syncOperations.handler(type: ConnectionLimiterHandler.self)
    handler.connection = self
    // Below the mark it is writable again; that matters to nobody, because a connection that was not is closed.
    let unsent = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: limits.maximumUnsentBytes)
    try channel.syncOptions?.setOption(.writeBufferWaterMark, value: unsent)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// The client has shown that it may be here: its connection does not give way to strangers' any more.
  public func vouch() {
    eventLoop.preconditionInEventLoop()
    limiter?.prove()
  }

  /// Sends a text message; nothing happens when the connection is closed or closing.
  public func send(_ text: String) {
    eventLoop.preconditionInEventLoop()
    handler.send(text)
  }

  /// Says why, and ends the connection.
  ///
  /// - Parameter reason: at most 123 bytes are sent (RFC 6455 section 5.5).
  public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
    eventLoop.preconditionInEventLoop()
    handler.close(code, reason: reason)
  }
}
