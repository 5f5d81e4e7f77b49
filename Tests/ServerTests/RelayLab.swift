import NIOCore
import NIOPosix
import STUN
import SecureTransport
import Server
import Synchronization
import TURN
import Testing
import Wire

/// A TURN server on loopback that says what a test wants.
final class RelayLab: Sendable {
  /// What it says to an authenticated request, from a port of the client; nil: yes.
  typealias Rule = @Sendable (_ request: STUNMessage, _ port: UInt16) -> STUNMessage?

  static let relayed = TransportAddress(ip: .v4(0xc000_0201), port: 50_000)
  private static let credentials = TURNCredentials(username: "alice", password: "secret")
  private static let key = stunLongTermKey(
    username: "alice", realm: "lab", password: "secret", hashes: CryptoHashes())

  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let channel: any Channel
  let port: UInt16

  /// - Parameter isStream: over TCP; then it reads nothing more after a ChannelBind.
  init(isStream: Bool = false, rule: @escaping Rule = { _, _ in nil }) async throws {
    if isStream {
      channel = try await ServerBootstrap(group: loop)
        .childChannelOption(.socketOption(.so_rcvbuf), value: 8192)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(StreamHandler(rule: rule))
          }
        }.bind(host: "127.0.0.1", port: 0).get()
    } else {
      channel = try await DatagramBootstrap(group: loop).channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DatagramHandler(rule: rule))
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    }
    port = UInt16(channel.localAddress?.port ?? 0)
  }

  deinit { channel.close(promise: nil) }

  fileprivate static func answer(_ bytes: [UInt8], from port: UInt16, rule: Rule) -> [UInt8]? {
    guard let message = try? STUNMessage(decoding: bytes), message.messageClass == .request else { return nil }
    let hashes = CryptoHashes()
    guard message.verifyIntegrity(key: key, hashes: hashes) else {
      var challenge = message.errorResponse(code: 401, reason: "Unauthorized")
      challenge.attributes += [.realm("lab"), .nonce([1])]
      return challenge.encode(fingerprint: false, hashes: hashes)
    }
    let answer =
      rule(message, port)
      ?? STUNMessage(
        .successResponse, message.method, transactionID: message.transactionID,
        attributes: [
          .xorRelayedAddress(relayed), .xorMappedAddress(TransportAddress(ip: .v4(0x7f00_0001), port: port)),
          .lifetime(600),
        ])
    return answer.encode(key: key, fingerprint: false, hashes: hashes)
  }

  // MARK: - Its client

  /// A client with an allocation and a channel, without any network.
  static func boundClient(to peer: TransportAddress) throws -> TURNClient {
    let server = TURNServer(address: TransportAddress(ip: .v4(0x7f00_0001), port: 3478), transport: .udp)
    var client = TURNClient(
      configuration: TURNClientConfiguration(server: server, credentials: credentials), hashes: CryptoHashes(),
      random: SystemRandomNumberGenerator())
    client.allocate(now: .zero)
    client.send([1], to: peer, now: .zero)
    for step in 0..<6 {
      let now = Instant.zero + .milliseconds(step)
      while let output = client.poll() {
        guard case .transmit(let bytes) = output, let reply = answer(bytes, from: 9, rule: { _, _ in nil }) else {
          continue
        }
        client.handle(reply, now: now)
      }
      if !client.hasChannel(to: peer) { client.send([1], to: peer, now: now) }
    }
    return client
  }

  /// Where an allocation's events go.
  final class Events: Sendable {
    let stream: AsyncStream<RelayAllocation.Event>
    let continuation: AsyncStream<RelayAllocation.Event>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// The first that is no datagram; nil after ten seconds.
    func next() async -> RelayAllocation.Event? {
      let limit = Task {
        try await Task.sleep(for: .seconds(10))
        continuation.finish()
      }
      defer { limit.cancel() }
      for await event in stream {
        if case .received = event { continue }
        return event
      }
      return nil
    }
  }

  /// - Parameter then: what is done in the same turn of the loop.
  func open(
    _ transport: String = "udp", then: @escaping @Sendable (RelayAllocation) -> Void = { _ in }
  ) async throws -> (RelayAllocation, Events) {
    let url = try #require(ICEServerURL("turn:127.0.0.1:\(port)?transport=\(transport)"))
    let server = try #require(RelayServer(url, address: .v4(0x7f00_0001), tls: try RelayTLS()))
    let events = Events()
    let (loop, start) = (loop, ContinuousClock.now)
    let allocation = try await loop.submit {
      let allocation = RelayAllocation(
        server: server, credentials: Self.credentials, eventLoop: loop, now: { .zero + (ContinuousClock.now - start) }
      ) { events.continuation.yield($0) }
      allocation.open()
      then(allocation)
      return allocation
    }.get()
    return (allocation, events)
  }

  /// Runs `body` on the allocation's loop.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await loop.submit(body).get()
  }
}

private final class DatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>
  private let rule: RelayLab.Rule

  init(rule: @escaping RelayLab.Rule) { self.rule = rule }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let port = UInt16(envelope.remoteAddress.port ?? 0)
    guard let answer = RelayLab.answer([UInt8](envelope.data.readableBytesView), from: port, rule: rule) else { return }
    let reply = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: answer))
    context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
  }
}

private final class StreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let rule: RelayLab.Rule

  init(rule: @escaping RelayLab.Rule) { self.rule = rule }

  /// One message in each piece: the client waits for its answers.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = [UInt8](unwrapInboundIn(data).readableBytesView)
    let port = UInt16(context.remoteAddress?.port ?? 0)
    guard let answer = RelayLab.answer(bytes, from: port, rule: rule) else { return }
    if bytes.starts(with: [0, 9]) { _ = context.channel.setOption(.autoRead, value: false) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
  }
}
