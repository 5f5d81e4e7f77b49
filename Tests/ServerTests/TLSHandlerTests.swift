import NIOCore
import NIOEmbedded
import NIOTLS
import SecureTransport
import Testing

@testable import Server

/// A client's and a server's handler in channels of their own, whose bytes are carried by hand.
private final class Rig {
  /// What comes through TLS.
  final class End: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var text = ""
    var isSecure = false
    var isInactive = false
    var errors: [any Error] = []
    /// Called with each piece.
    var onText: (ChannelHandlerContext, String) -> Void = { _, _ in }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .handshakeCompleted? = event as? TLSUserEvent { isSecure = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let piece = String(buffer: unwrapInboundIn(data))
      text += piece
      onText(context, piece)
    }

    func channelInactive(context: ChannelHandlerContext) {
      isInactive = true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      errors.append(error)
    }
  }

  let loop = EmbeddedEventLoop()
  let client: EmbeddedChannel
  let server: EmbeddedChannel
  let clientEnd = End()
  let serverEnd = End()

  init() throws {
    let key = PrivateKey.generate()
    let serving = try TLSContext(key: key, certificate: Certificate(key: key))
    let asking = try TLSContext(trust: .judged { _ in true })
    client = EmbeddedChannel(
      handlers: [TLSHandler(try TLSConnection(client: asking, of: .name("localhost"))), clientEnd], loop: loop)
    server = EmbeddedChannel(handlers: [TLSHandler(try TLSConnection(server: serving)), serverEnd], loop: loop)
    for channel in [server, client] {
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }
  }

  deinit {
    for channel in [client, server] { channel.close(promise: nil) }
    // Nobody may answer the goodbyes.
    loop.advanceTime(by: .seconds(3))
    for channel in [client, server] { _ = try? channel.finish(acceptAlreadyClosed: true) }
  }

  /// Carries what is written until nobody writes.
  func carry() throws {
    var isMoving = true
    while isMoving {
      isMoving = try carryOnce(from: client, to: server)
      isMoving = try carryOnce(from: server, to: client) || isMoving
    }
  }

  @discardableResult
  func carryOnce(from sender: EmbeddedChannel, to receiver: EmbeddedChannel) throws -> Bool {
    var moved = false
    while let buffer = try sender.readOutbound(as: ByteBuffer.self) {
      moved = true
      if receiver.isActive {
        receiver.pipeline.fireChannelRead(buffer)
        receiver.pipeline.fireChannelReadComplete()
      }
    }
    return moved
  }

  /// The other end has closed the socket.
  func cut(_ channel: EmbeddedChannel) {
    channel.pipeline.fireChannelInactive()
  }
}

@Suite struct TLSHandlerTests {
  private func connected() throws -> Rig {
    let rig = try Rig()
    try rig.carry()
    try #require(rig.clientEnd.isSecure && rig.serverEnd.isSecure)
    return rig
  }

  @Test func whatIsWrittenEarlyWaitsForTheHandshakeAndItsFlush() throws {
    let rig = try Rig()
    let flushed = rig.client.writeAndFlush(ByteBuffer(string: "one"))
    let unflushed = rig.client.write(ByteBuffer(string: "two"))
    var done: [String] = []
    flushed.assumeIsolated().whenSuccess { done.append("one") }
    unflushed.assumeIsolated().whenSuccess { done.append("two") }
    #expect(done.isEmpty)
    try rig.carry()
    #expect(rig.serverEnd.text == "one" && done == ["one"])
    rig.client.flush()
    try rig.carry()
    #expect(rig.serverEnd.text == "onetwo" && done == ["one", "two"])
  }

  @Test func severalWritesLeaveTogether() throws {
    let rig = try connected()
    for text in ["a", "b", ""] { _ = rig.server.write(ByteBuffer(string: text)) }
    rig.server.flush()
    let piece = try rig.server.readOutbound(as: ByteBuffer.self)
    #expect(piece != nil)
    #expect(try rig.server.readOutbound(as: ByteBuffer.self) == nil)
    piece.map { rig.client.pipeline.fireChannelRead($0) }
    #expect(rig.clientEnd.text == "ab")
  }

  @Test func anEmptyWriteKeepsItsPromise() throws {
    let rig = try connected()
    var isDone = false
    rig.client.writeAndFlush(ByteBuffer()).assumeIsolated().whenSuccess { isDone = true }
    #expect(isDone)
  }

  @Test func anAnswerFromWithinAReadGoesOut() throws {
    let rig = try connected()
    rig.serverEnd.onText = { context, text in
      context.writeAndFlush(NIOAny(ByteBuffer(string: text.uppercased())), promise: nil)
      if text.hasSuffix("bye") { context.close(promise: nil) }
    }
    _ = rig.client.writeAndFlush(ByteBuffer(string: "hello"))
    try rig.carry()
    #expect(rig.clientEnd.text == "HELLO")
    _ = rig.client.writeAndFlush(ByteBuffer(string: "bye"))
    try rig.carry()
    #expect(rig.clientEnd.text == "HELLOBYE" && !rig.client.isActive && !rig.server.isActive)
    #expect(rig.clientEnd.errors.isEmpty && rig.serverEnd.errors.isEmpty)
  }

  @Test func aGoodbyeClosesBothWithoutAnError() throws {
    let rig = try connected()
    var isClosed = false
    rig.client.close().assumeIsolated().whenSuccess { isClosed = true }
    #expect(!isClosed && rig.client.isActive)
    try rig.carry()
    #expect(isClosed && !rig.client.isActive && !rig.server.isActive)
    #expect(rig.clientEnd.errors.isEmpty && rig.serverEnd.errors.isEmpty)
  }

  @Test func aPeerThatDoesNotAnswerAGoodbyeIsNotWaitedForLong() throws {
    let rig = try connected()
    var closed = 0
    for _ in 0..<2 { rig.server.close().assumeIsolated().whenSuccess { closed += 1 } }
    rig.loop.advanceTime(by: .milliseconds(1900))
    #expect(rig.server.isActive)
    // What still comes is dropped.
    _ = rig.client.writeAndFlush(ByteBuffer(string: "late"))
    try rig.carryOnce(from: rig.client, to: rig.server)
    #expect(rig.serverEnd.text.isEmpty)
    rig.loop.advanceTime(by: .milliseconds(200))
    #expect(!rig.server.isActive && closed == 2)
  }

  @Test func aCloseDuringTheHandshakeIsAtOnceAndFailsWhatWaits() throws {
    let rig = try Rig()
    let written = rig.client.writeAndFlush(ByteBuffer(string: "one"))
    var failure: (any Error)?
    written.assumeIsolated().whenFailure { failure = $0 }
    _ = rig.client.close()
    #expect(!rig.client.isActive && failure as? ChannelError == .ioOnClosedChannel)
    #expect(rig.clientEnd.errors.isEmpty)
  }

  @Test func halfOfAConnectionCannotBeClosed() throws {
    let rig = try connected()
    for mode in [CloseMode.input, .output] {
      var failure: (any Error)?
      rig.client.close(mode: mode).assumeIsolated().whenFailure { failure = $0 }
      #expect(failure as? ChannelError == .operationUnsupported)
    }
    #expect(rig.client.isActive)
  }

  @Test func aCutConnectionIsATruncation() throws {
    let rig = try connected()
    _ = rig.client.write(ByteBuffer(string: "one"))
    rig.cut(rig.client)
    #expect(rig.clientEnd.errors.compactMap { $0 as? TLSFailure } == [.truncated] && rig.clientEnd.isInactive)
  }

  @Test func aCutHandshakeIsAFailure() throws {
    let rig = try Rig()
    try rig.carryOnce(from: rig.client, to: rig.server)
    for (channel, end) in [(rig.client, rig.clientEnd), (rig.server, rig.serverEnd)] {
      rig.cut(channel)
      #expect(end.errors.compactMap { $0 as? TLSFailure } == [.endedDuringHandshake])
      #expect(end.isInactive && !end.isSecure)
    }
  }

  @Test func badBytesCloseTheChannelWithAnError() throws {
    let rig = try connected()
    rig.server.pipeline.fireChannelRead(ByteBuffer(bytes: [23, 3, 3, 0, 20] + [UInt8](repeating: 1, count: 20)))
    #expect(rig.serverEnd.errors.count == 1 && rig.serverEnd.errors.first is TLSFailure)
    #expect(!rig.server.isActive)
    // The alert tells the client.
    try rig.carryOnce(from: rig.server, to: rig.client)
    #expect(rig.clientEnd.errors.count == 1 && !rig.client.isActive)
  }
}
