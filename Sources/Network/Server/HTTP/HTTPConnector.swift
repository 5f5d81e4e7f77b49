internal import NIOCore
internal import NIOPosix
internal import Signaling
internal import Wire

/// Opens TCP connections to one origin; TLS is added within the pipeline.
struct HTTPConnector {
  let origin: HTTPOrigin
  /// Nil for plain HTTP.
  let tls: ClientTLS?
  let timeout: TimeAmount
  let eventLoop: any EventLoop
  /// Nil: any address.
  let mayReach: (@Sendable (IPAddress) -> Bool)?

  /// - Parameters:
  ///   - trust: for `https`; with plain `http` the server is not authenticated.
  ///   - mayReach: which addresses may be connected to.
  /// - Throws: `HTTPClientError.tls` when the TLS library cannot be set up.
  init(
    origin: HTTPOrigin, trust: HTTPTrust, timeout: TimeAmount, eventLoop: any EventLoop,
    mayReach: (@Sendable (IPAddress) -> Bool)? = nil
  ) throws(HTTPClientError) {
    self.origin = origin
    self.mayReach = mayReach
    self.timeout = timeout
    self.eventLoop = eventLoop
    tls = origin.scheme == .https ? try ClientTLS(trust: trust) : nil
  }

  /// - Parameter configure: adds the handlers after TLS, and learns whether there is TLS. Called once per attempt when a name has several addresses.
  func connect(
    configure: @escaping (ChannelPipeline.SynchronousOperations, _ isSecure: Bool) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    let (tls, host) = (tls, origin.host)
    let bound = NIOLoopBound(configure, eventLoop: eventLoop)
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(tls.makeHandler(to: host)) }
          try bound.value(pipeline, tls != nil)
        }
      }
    switch host {
    case .name(let name):
      let resolver = mayReach.map { FilteringResolver(eventLoop: eventLoop, isAllowed: $0) }
      return bootstrap.resolver(resolver).connect(host: name, port: Int(origin.port))
    case .address(let address):
      guard mayReach?(address) ?? true else { return eventLoop.makeFailedFuture(HTTPClientError.forbiddenAddress) }
      do {
        return bootstrap.connect(
          to: try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(origin.port)))
      } catch {
        return eventLoop.makeFailedFuture(error)
      }
    }
  }
}
