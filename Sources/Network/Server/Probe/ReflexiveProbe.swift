internal import NIOCore
internal import NIOPosix
internal import STUN
internal import Wire

/// Asks several STUN servers over UDP from one socket, so that their answers can be compared.
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class ReflexiveProbe: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  private let promise: EventLoopPromise<[TransportAddress: TransportAddress]>
  private let now: @Sendable () -> Instant
  private var queries: [ReflexiveQuery]
  private var answers: [TransportAddress: TransportAddress] = [:]
  private var timer: Scheduled<Void>?

  private init(
    _ servers: [TransportAddress], now: @escaping @Sendable () -> Instant,
    promise: EventLoopPromise<[TransportAddress: TransportAddress]>
  ) {
    self.now = now
    self.promise = promise
    queries = servers.map { ReflexiveQuery(to: $0, now: now()) }
  }

  /// Our address as each server sees it; those that do not answer within some seconds are missing. All servers are of one
  /// address family.
  static func run(
    _ servers: [TransportAddress], now: @escaping @Sendable () -> Instant, on loop: any EventLoop
  ) -> EventLoopFuture<[TransportAddress: TransportAddress]> {
    guard let first = servers.first else { return loop.makeSucceededFuture([:]) }
    let promise = loop.makePromise(of: [TransportAddress: TransportAddress].self)
    let probe = ReflexiveProbe(servers, now: now, promise: promise)
    DatagramBootstrap(group: loop)
      .channelInitializer { channel in channel.pipeline.addHandler(probe) }
      .bind(host: first.ip.isIPv6 ? "::" : "0.0.0.0", port: 0)
      .whenFailure { _ in promise.succeed([:]) }
    return promise.futureResult
  }

  func channelActive(context: ChannelHandlerContext) {
    for query in queries { send(query, context) }
    wait(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    guard let source = envelope.remoteAddress.transportAddress else { return }
    let bytes = Array(envelope.data.readableBytesView)
    guard STUNMessage.isSTUN(bytes), let message = try? STUNMessage(decoding: bytes),
      let index = queries.firstIndex(where: { $0.server == source }),
      let mapped = queries[index].answer(message, from: source)
    else { return }
    answers[source] = mapped
    queries.remove(at: index)
    wait(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A port that is closed; the others may answer.
  }

  private func wait(_ context: ChannelHandlerContext) {
    timer?.cancel()
    guard let due = queries.map(\.deadline).min() else { return finish(context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: .nanoseconds(max(0, (due - now()).nanoseconds))) {
      let (probe, context) = bound.value
      probe.fire(context)
    }
  }

  private func fire(_ context: ChannelHandlerContext) {
    for index in queries.indices.reversed() {
      switch queries[index].handleTimeout(now: now()) {
      case .again: send(queries[index], context)
      case .unanswered: queries.remove(at: index)
      case nil: break
      }
    }
    wait(context)
  }

  private func finish(_ context: ChannelHandlerContext) {
    promise.succeed(answers)
    context.close(promise: nil)
  }

  private func send(_ query: ReflexiveQuery, _ context: ChannelHandlerContext) {
    guard let address = try? SocketAddress(ipAddress: query.server.ip.description, port: Int(query.server.port)) else {
      return
    }
    context.writeAndFlush(
      wrapOutboundOut(AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: query.request))), promise: nil)
  }
}
