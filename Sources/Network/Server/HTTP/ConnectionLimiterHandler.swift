internal import NIOCore
internal import NIOHTTP1
internal import Wire

/// A connection's place in the limiter, and the count of what waits for its client. Before TLS in the pipeline, so that it
/// counts what goes to the socket, whatever it is: answers, messages, handshakes.
final class ConnectionLimiterHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Handshake {
    /// Nothing has come yet.
    case awaited
    /// Too many have begun. Nothing more is read until its turn has come.
    case delayed(ByteBuffer, Scheduled<Void>)
    case begun
  }

  /// What is written comes in pieces of so many bytes, whose way to the kernel is followed.
  private static let pieceBytes = 16 * 1024

  private let limiter: ConnectionLimiter
  private let proxies: TrustedProxies
  /// The connection's other end: the client, or its proxy.
  private var peer: TransportAddress?
  /// Where the client is; nil when the socket no longer has an IP address.
  private(set) var address: TransportAddress?
  /// Whether the client's bytes come through a proxy that says so in a `ProxyHeader`.
  private(set) var isRelayed = false
  private var id: ConnectionTable.ID?
  private var context: ChannelHandlerContext?
  private var handshake: Handshake = .awaited
  private var written = 0
  private var taken = 0
  /// Whether the limiter knows that something waits.
  private var isWaiting = false
  private var patience: Scheduled<Void>?

  init(limiter: ConnectionLimiter, proxies: TrustedProxies) {
    self.limiter = limiter
    self.proxies = proxies
  }

  /// Takes a place. Throws when there is none.
  func enter(_ channel: any Channel) throws {
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    peer = channel.remoteAddress?.transportAddress
    address = peer
    guard let id = limiter.enter(bound, from: address?.ip) else {
      throw TooManyConnections()
    }
    self.id = id
    channel.closeFuture.whenComplete { [limiter] _ in limiter.leave(id) }
  }

  /// A proxy has said where the client is; nil if it does not know.
  func relay(from address: TransportAddress?) {
    isRelayed = true
    guard let address else { return }
    self.address = address
    if let id { limiter.move(id, to: address.ip) }
  }

  /// A request has come: its fields may name a client that the connection has not spoken for before.
  func noteRequest(_ headers: HTTPHeaders) {
    guard case .field(let proxies) = proxies, let peer, proxies.contains(peer.ip) else { return }
    let client = TrustedProxies.client(of: headers, behind: proxies)
    address = client.map { TransportAddress(ip: $0, port: 0) } ?? peer
    if let id { limiter.move(id, to: client ?? peer.ip) }
  }

  /// Nil when the client's request may be answered, otherwise the time to wait.
  func ask() -> Duration? { id.flatMap(limiter.ask) }

  /// The client has shown who it is.
  func raise(to standing: ConnectionStanding) {
    if let id { limiter.raise(id, to: standing) }
  }

  /// Closes immediately: TLS would first wait for the peer's close_notify.
  func close() {
    context?.close(promise: nil)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    patience?.cancel()
    if case .delayed(_, let turn) = handshake { turn.cancel() }
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch handshake {
    case .begun: context.fireChannelRead(data)
    case .awaited: begin(with: unwrapInboundIn(data), context)
    case .delayed(var bytes, let turn):
      bytes.writeImmutableBuffer(unwrapInboundIn(data))
      handshake = .delayed(bytes, turn)
    }
  }

  func read(context: ChannelHandlerContext) {
    if case .delayed = handshake { return }
    context.read()
  }

  private func begin(with bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    guard let wait = id.flatMap(limiter.greet) else {
      handshake = .begun
      return context.fireChannelRead(wrapInboundOut(bytes))
    }
    let turn = context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(wait.nanoseconds)) { [weak self] in
      guard let self, let context = self.context, case .delayed(let bytes, _) = handshake else { return }
      begin(with: bytes, context)
      guard case .begun = handshake else { return }
      context.fireChannelReadComplete()
      context.read()
    }
    handshake = .delayed(bytes, turn)
  }

  // MARK: - What waits for the client

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var rest = unwrapOutboundIn(data)
    written += rest.readableBytes
    repeat {
      let count = min(rest.readableBytes, Self.pieceBytes)
      let piece = rest.readSlice(length: count) ?? ByteBuffer()
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.assumeIsolated().whenComplete { [self] _ in
        taken += count
        if isWaiting { report() }
      }
      if rest.readableBytes == 0, let promise { sent.futureResult.cascade(to: promise) }
      context.write(wrapOutboundOut(piece), promise: sent)
    } while rest.readableBytes > 0
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if isWaiting || written > taken { report() }
  }

  private func report() {
    guard let id else { return }
    isWaiting = written > taken
    let deadline = limiter.update(id, waiting: written - taken, taken: taken)
    if let deadline, patience == nil { check(at: deadline) }
  }

  /// A client that reads too slowly is closed, whatever it asks for meanwhile.
  private func check(at deadline: Instant) {
    guard let context else { return }
    let time = TimeAmount.nanoseconds(max(0, (deadline - ConnectionLimiter.now).nanoseconds))
    patience = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      guard let self else { return }
      patience = nil
      guard let id, isWaiting, let deadline = limiter.deadline(of: id) else { return }
      if deadline <= ConnectionLimiter.now { close() } else { check(at: deadline) }
    }
  }
}

/// The connection was refused because the limit is reached.
struct TooManyConnections: Error {}
