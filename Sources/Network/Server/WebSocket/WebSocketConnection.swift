public import NIOCore
internal import NIOWebSocket
public import Wire

/// Limits on what one WebSocket may use.
public struct WebSocketLimits: Sendable {
  /// Of a text message, in all its frames together.
  public var maximumMessageBytes = 64 * 1024
  public var maximumFragments = 256
  /// Buffered for a peer that reads too slowly.
  public var maximumUnsentBytes = 512 * 1024
  /// Frames of any kind that may arrive at once, and the time for one more. An offer with its candidates is some twenty.
  public var frameBurst = 512
  public var frameInterval: Duration = .milliseconds(5)
  /// Routers forget a silent connection after a minute at the earliest.
  public var pingInterval: TimeAmount = .seconds(20)
  /// Pings in a row without anything received after them.
  public var maximumUnansweredPings = 2
  /// From our close frame to the end of the connection.
  public var closeTimeout: TimeAmount = .seconds(2)

  public init() {}
}

/// Why a WebSocket has ended.
public enum WebSocketClosure: Hashable, Sendable {
  /// By the peer's close frame; 1005 when it names no code. RFC 6455 section 7.4.
  case byPeer(code: Int, reason: String)
  case byUs(WebSocketCloseCode)
  /// Without a close frame, or after too long a silence.
  case lost
}

/// The status codes that we send. RFC 6455 section 7.4.1.
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

/// Either end of a WebSocket (RFC 6455): text messages both ways, kept alive by pings.
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
    // The low mark does not matter: a connection that becomes unwritable is closed.
    let unsent = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: limits.maximumUnsentBytes)
    try channel.syncOptions?.setOption(.writeBufferWaterMark, value: unsent)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// The client has proven a credential: its connection no longer gives way to strangers'.
  public func vouch() {
    eventLoop.preconditionInEventLoop()
    limiter?.prove()
  }

  /// Sends a text message; ignored when the connection is closed or closing.
  public func send(_ text: String) {
    eventLoop.preconditionInEventLoop()
    handler.send(text)
  }

  /// Sends the code and reason, and ends the connection.
  ///
  /// - Parameter reason: at most 123 bytes are sent (RFC 6455 section 5.5).
  public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
    eventLoop.preconditionInEventLoop()
    handler.close(code, reason: reason)
  }
}
