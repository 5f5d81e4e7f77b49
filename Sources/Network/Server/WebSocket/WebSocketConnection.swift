public import NIOCore
public import Wire

/// Limits for one WebSocket.
public struct WebSocketLimits: Sendable {
  /// Size of a text message, over all its frames.
  public var maximumMessageBytes = 64 * 1024
  public var maximumFragments = 256
  /// Data buffered for a peer that reads too slowly: two of the longest messages.
  public var maximumUnsentBytes = 160 * 1024
  /// Burst of frames of any kind, and the interval for one more. An offer with its candidates is about twenty.
  public var frameBurst = 512
  public var frameInterval: Duration = .milliseconds(5)
  /// A ping is sent when the other side has said nothing by itself for so long. Routers drop idle connections after a minute at
  /// the earliest.
  public var pingInterval: TimeAmount = .seconds(20)
  /// Consecutive pings after which nothing was received.
  public var maximumUnansweredPings = 2
  /// From our close frame until the connection is closed.
  public var closeTimeout: TimeAmount = .seconds(2)

  public init() {}
}

/// Why a WebSocket was closed.
public enum WebSocketClosure: Hashable, Sendable {
  /// By the peer's close frame; 1005 if it has no code. RFC 6455 section 7.4.
  case byPeer(code: Int, reason: String)
  case byUs(WebSocketCloseCode)
  /// Without a close frame, or after too long a silence.
  case lost
}

/// The close codes that we send. RFC 6455 section 7.4.1.
public enum WebSocketCloseCode: Int, Hashable, Sendable {
  case normal = 1000
  case goingAway = 1001
  case protocolError = 1002
  /// Only text messages are accepted.
  case unacceptableData = 1003
  /// The text is not UTF-8.
  case invalidText = 1007
  case policyViolation = 1008
  case messageTooLarge = 1009
  case tryAgainLater = 1013
}

/// Either end of a WebSocket (RFC 6455): text messages in both directions, kept alive by pings.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class WebSocketConnection: @unchecked Sendable {
  public let eventLoop: any EventLoop
  /// Nil when the socket no longer has an IP address.
  public let remoteAddress: TransportAddress?
  /// Ours; nil likewise.
  public let localAddress: TransportAddress?
  /// Called on the event loop for each message; not after `onClose`.
  public var onText: (String) -> Void = { _ in }
  /// Called once, on the event loop, never from within `close` or `send`.
  public var onClose: (WebSocketClosure) -> Void = { _ in }
  private let handler: WebSocketHandler
  /// Its place in the server's limiter; nil on the client's side.
  private let limiter: ConnectionLimiterHandler?

  /// Completes the pipeline of an upgraded channel.
  init(channel: any Channel, role: WebSocketHandler.Role, limits: WebSocketLimits) throws {
    eventLoop = channel.eventLoop
    localAddress = channel.localAddress?.transportAddress
    handler = WebSocketHandler(role: role, limits: limits)
    limiter = try? channel.pipeline.syncOperations.handler(type: ConnectionLimiterHandler.self)
    remoteAddress = limiter?.address ?? channel.remoteAddress?.transportAddress
    handler.connection = self
    // The low mark does not matter: a connection that becomes unwritable is closed.
    let unsent = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: limits.maximumUnsentBytes)
    try channel.syncOptions?.setOption(.writeBufferWaterMark, value: unsent)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// The client holds a credential: its connection is no longer evicted in favour of strangers.
  public func vouch(of credential: ConnectionCredential) {
    eventLoop.preconditionInEventLoop()
    limiter?.raise(to: .holder(credential))
  }

  /// Sends a text message; ignored if the connection is closing or closed.
  ///
  /// - Parameter taken: called on the event loop once the kernel has it all; not if the connection ends before.
  public func send(_ text: String, taken: (() -> Void)? = nil) {
    eventLoop.preconditionInEventLoop()
    handler.send(text, taken: taken)
  }

  /// Asks the peer for a sign of life; without any within `limit` we close the connection. For when the network has
  /// changed: TCP alone would wait for minutes. Asks once a second at most, however often this is called.
  public func verify(within limit: TimeAmount) {
    eventLoop.preconditionInEventLoop()
    handler.verify(within: limit)
  }

  /// Closes the connection at once, without a close frame: its path is gone.
  public func drop() {
    eventLoop.preconditionInEventLoop()
    handler.drop()
  }

  /// Sends the code and reason, and closes the connection.
  ///
  /// - Parameter reason: at most 123 bytes are sent (RFC 6455 section 5.5).
  public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
    eventLoop.preconditionInEventLoop()
    handler.close(code, reason: reason)
  }
}
