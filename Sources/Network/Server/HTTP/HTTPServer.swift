internal import Glibc
public import NIOCore
internal import NIOHTTP1
internal import NIOPosix
public import SecureTransport
internal import Synchronization
internal import Wire

/// HTTPS on one TCP port: TLS, limits and timeouts. The responder decides what to answer.
public final class HTTPServer: Sendable {
  /// Limits for clients.
  public struct Limits: Sendable {
    /// Concurrent connections; a home has a handful. Fewer if the system allows fewer file descriptors.
    public var maximumConnections = 256
    /// Request line and header fields together; WHEP players send a few hundred bytes.
    public var maximumHeadBytes = 32 * 1024
    /// interfaces/wire.md, "HTTPS": 413 above it. The largest offers are about 20 KiB.
    public var maximumBodyBytes = 64 * 1024
    /// From a request's first byte to its last; also for the TLS handshake.
    public var requestTimeout: TimeAmount = .seconds(10)
    /// How many times the allowance of one address all strangers together have, for TLS handshakes and requests: what the
    /// machine has to spare. A handshake takes a millisecond of a small one.
    public var strangers = 5
    /// How many addresses of clients that have proven themselves are remembered; they are not counted with strangers.
    public var knownAddresses = 64
    /// What the kernel keeps of a connection, in each direction; left to itself it takes megabytes for a client that reads
    /// slowly. Linux doubles it.
    public var socketBufferBytes = 32 * 1024
    /// How long a client may take for 16 KiB that wait for it, or for all of less.
    public var readingTime: Duration = .seconds(10)
    /// Idle time of a connection between requests.
    public var idleTimeout: TimeAmount = .seconds(60)

    public init() {}
  }

  /// The context of new connections; what is open keeps its own.
  private final class CurrentTLS: Sendable {
    let context: Mutex<TLSContext>

    init(_ context: TLSContext) { self.context = Mutex(context) }
  }

  private let channel: any Channel
  private let limiter: ConnectionLimiter
  private let tls: CurrentTLS
  /// The bound port.
  public let port: Int

  private init(channel: any Channel, limiter: ConnectionLimiter, tls: CurrentTLS) {
    self.channel = channel
    self.limiter = limiter
    self.tls = tls
    port = channel.localAddress?.port ?? 0
  }

  /// Binds the port and starts serving.
  ///
  /// - Parameters:
  ///   - tls: a server's.
  ///   - webSocket: accepts WebSockets on connections whose first request is the upgrade.
  ///   - proxies: which say where the client is.
  /// - Throws: `IOError` when the address is in use or not ours.
  public static func start(
    host: String, port: Int, tls: TLSContext, limits: Limits = .init(), webSocket: WebSocketEndpoint? = nil,
    proxies: TrustedProxies = .field([]), on group: any EventLoopGroup, responder: @escaping HTTPResponder
  ) async throws -> HTTPServer {
    var table = ConnectionTable.Limits()
    table.places = ConnectionLimiter.places(atMost: limits.maximumConnections)
    table.strangers = limits.strangers
    table.knownAddresses = limits.knownAddresses
    var backlog = WriteBacklog.Limits()
    backlog.patience = limits.readingTime
    let limiter = ConnectionLimiter(limits: table, backlog: backlog)
    let current = CurrentTLS(tls)
    var heads = NIOHTTPDecoderLimitConfiguration()
    heads.maxHeaderFieldSize = limits.maximumHeadBytes
    heads.maxHeaderListSize = limits.maximumHeadBytes
    let decoding = heads
    // A channel keeps its buffer as long as it lasts, and thousands of idle WebSockets may be there; what is larger comes in
    // several pieces.
    let receiving = FixedSizeRecvByteBufferAllocator(capacity: 256)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 512)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 4)
      .childChannelOption(.recvAllocator, value: receiving)
      .childChannelOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.socketBufferBytes))
      .childChannelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(limits.socketBufferBytes))
      // A connection is writable when the kernel has all that was written.
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let limiterHandler = ConnectionLimiterHandler(limiter: limiter, proxies: proxies)
          try limiterHandler.enter(channel)
          let gate = RequestGate(maximumBytes: limits.maximumHeadBytes + limits.maximumBodyBytes)
          let pipeline = channel.pipeline.syncOperations
          if case .header(let proxies) = proxies, let ip = limiterHandler.address?.ip, proxies.contains(ip) {
            try pipeline.addHandler(ProxyHeaderHandler(limiter: limiterHandler))
          }
          try pipeline.addHandler(limiterHandler)
          try pipeline.addHandler(TLSHandler(TLSConnection(server: current.context.withLock { $0 })))
          try pipeline.addHandler(gate)
          try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withServerUpgrade: webSocket.map(upgrade(to:)), withErrorHandling: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoding)
          try pipeline.addHandler(
            HTTPRequestHandler(
              limits: limits, webSocket: webSocket, limiter: limiterHandler, gate: gate, responder: responder))
        }
      }
    return HTTPServer(channel: try await bind(bootstrap, host: host, port: port), limiter: limiter, tls: current)
  }

  private static func upgrade(to endpoint: WebSocketEndpoint) -> NIOHTTPServerUpgradeConfiguration {
    (
      upgraders: [endpoint.upgrader],
      completionHandler: { context in
        let pipeline = context.pipeline.syncOperations
        if let requests = try? pipeline.context(handlerType: HTTPRequestHandler.self) {
          pipeline.removeHandler(context: requests, promise: nil)
        }
      }
    )
  }

  /// Literal addresses bypass the resolver, which rejects "::" on a host whose only IPv6 address is loopback. Falls
  /// back to 0.0.0.0 if the kernel has no IPv6.
  static func bind(_ bootstrap: ServerBootstrap, host: String, port: Int) async throws -> any Channel {
    guard let address = try? SocketAddress(ipAddress: host, port: port) else {
      return try await bootstrap.bind(host: host, port: port).get()
    }
    do {
      return try await bootstrap.bind(to: address).get()
    } catch let error as IOError where host == "::" && [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
      return try await bootstrap.bind(to: SocketAddress(ipAddress: "0.0.0.0", port: port)).get()
    }
  }

  /// Looks whether the credentials that connections have shown still count. Call it each second, and after changes.
  ///
  /// - Parameter current: nil for a credential that no longer counts: its connections are strangers' again.
  public func review(_ current: (_ credential: String) -> ConnectionCredential?) {
    var known: [String: ConnectionCredential] = [:]
    for id in limiter.credentials { known[id] = current(id) }
    limiter.review(known)
  }

  /// Serves new connections with another certificate. From any thread.
  public func use(_ context: TLSContext) {
    tls.context.withLock { $0 = context }
  }

  public func stop() async {
    try? await channel.close().get()
  }
}
