internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import Wire

/// Limits connections to the HTTPS port, across all event loops: `ConnectionTable` with real connections.
final class ConnectionLimiter: Sendable {
  private struct State {
    var table: ConnectionTable
    var handlers: [ConnectionTable.ID: NIOLoopBound<ConnectionLimiterHandler>] = [:]
  }

  private let state: Mutex<State>

  init(limits: ConnectionTable.Limits) {
    state = Mutex(State(table: ConnectionTable(limits: limits)))
  }

  /// File descriptors reserved for everything except client connections: devices, files, sockets, libraries.
  private static let otherDescriptors = 96

  /// Limits places to the available file descriptors. When accept(2) fails there is no new connection to make room for,
  /// and devices that are plugged in again need descriptors too.
  static func places(atMost wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
    let open = Int(clamping: limit.rlim_cur)
    return max(8, min(wanted, open - otherDescriptors))
  }

  static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

  fileprivate func enter(_ handler: NIOLoopBound<ConnectionLimiterHandler>, from address: IPAddress?) -> ConnectionTable
    .ID?
  {
    let (id, evicted) = state.withLock { state -> (ConnectionTable.ID?, NIOLoopBound<ConnectionLimiterHandler>?) in
      guard let (id, evicted) = state.table.enter(from: address) else { return (nil, nil) }
      let gone = evicted.flatMap { state.handlers.removeValue(forKey: $0) }
      state.handlers[id] = handler
      return (id, gone)
    }
    if let evicted { evicted.eventLoop.execute { evicted.value.close() } }
    return id
  }

  fileprivate func move(_ id: ConnectionTable.ID, to address: IPAddress) {
    state.withLock { $0.table.move(id, to: address) }
  }

  fileprivate func leave(_ id: ConnectionTable.ID) {
    state.withLock { state in
      state.table.leave(id)
      state.handlers[id] = nil
    }
  }

  fileprivate func greet(_ id: ConnectionTable.ID) -> Bool {
    state.withLock { $0.table.greet(id, now: Self.now) }
  }

  fileprivate func ask(_ id: ConnectionTable.ID) -> Duration? {
    state.withLock { $0.table.ask(id, now: Self.now) }
  }

  fileprivate func prove(_ id: ConnectionTable.ID) {
    state.withLock { $0.table.prove(id) }
  }
}

/// A connection's place in the limiter. Before TLS in the pipeline.
final class ConnectionLimiterHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let limiter: ConnectionLimiter
  /// Where the client is; nil when the socket no longer has an IP address.
  private(set) var address: TransportAddress?
  private var id: ConnectionTable.ID?
  private var context: ChannelHandlerContext?
  private var hasSpoken = false

  init(limiter: ConnectionLimiter) {
    self.limiter = limiter
  }

  /// Takes a place. Throws when there is none.
  func enter(_ channel: any Channel) throws {
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    address = channel.remoteAddress?.transportAddress
    guard let id = limiter.enter(bound, from: address?.ip) else {
      throw TooManyConnections()
    }
    self.id = id
    channel.closeFuture.whenComplete { [limiter] _ in limiter.leave(id) }
  }

  /// A proxy has said where the client is.
  func move(to address: TransportAddress) {
    self.address = address
    if let id { limiter.move(id, to: address.ip) }
  }

  /// Nil when the client's request may be answered, otherwise the time to wait.
  func ask() -> Duration? { id.flatMap(limiter.ask) }

  /// The client has proven a credential.
  func prove() {
    if let id { limiter.prove(id) }
  }

  /// Closes immediately: TLS would first wait for the peer's close_notify.
  func close() {
    context?.close(promise: nil)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !hasSpoken {
      hasSpoken = true
      guard id.map(limiter.greet) ?? false else { return context.close(promise: nil) }
    }
    context.fireChannelRead(data)
  }
}

/// Bounds the bytes of a request before it is parsed. The HTTP decoder limits header fields, but buffers request lines
/// of any length. Placed between TLS and the decoder; removed from a WebSocket, which has its own limits.
final class RequestSizeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let pieceBytes = 16 * 1024

  private let maximumBytes: Int
  private var bytes = 0
  private var isOver = false
  /// A WebSocket has its own limits. From then on until the handler is removed, everything passes.
  var isOff = false

  init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// A request's head has been parsed; its body is limited where it is collected.
  func beginRequest() {
    bytes = 0
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOff else { return context.fireChannelRead(data) }
    var rest = unwrapInboundIn(data)
    // In pieces, because parsing a head among them resets the count.
    while !isOver, let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0
    {
      bytes += piece.readableBytes
      if bytes > maximumBytes {
        isOver = true
        context.fireErrorCaught(HTTPParserError.headerOverflow)
      } else {
        context.fireChannelRead(wrapInboundOut(piece))
      }
    }
  }
}

/// The connection was refused because the limit is reached.
private struct TooManyConnections: Error {}
