import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import Server

/// When a WebSocket asks its other side for a sign of life, in fake time.
@Suite struct WebSocketPingTests {
  private let channel = EmbeddedChannel()

  /// A ping after 10 s of silence.
  private func open() throws {
    var limits = WebSocketLimits()
    limits.pingInterval = .seconds(10)
    try channel.pipeline.syncOperations.addHandler(WebSocketHandler(role: .server, limits: limits))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func receive(_ opcode: WebSocketOpcode) throws {
    let key: WebSocketMaskingKey = [0, 0, 0, 0]
    try channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, maskKey: key, data: ByteBuffer(string: "x")))
  }

  /// What is sent within this time.
  private func sent(within seconds: Int64) throws -> [WebSocketOpcode] {
    channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    var opcodes: [WebSocketOpcode] = []
    while let frame = try channel.readOutbound(as: WebSocketFrame.self) { opcodes.append(frame.opcode) }
    return opcodes
  }

  private let handler = WebSocketHandler(role: .server, limits: WebSocketLimits())

  private func openForVerifying() throws {
    try channel.pipeline.syncOperations.addHandler(handler)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  /// At a rendezvous, each client that comes has the host asked.
  @Test func whoIsDoubtedByManyIsAskedOnceASecond() throws {
    try openForVerifying()
    var asked = 0
    for _ in 0..<1000 {
      handler.verify(within: .seconds(3))
      let pings = try sent(within: 0).count
      // Over a fast path the answer comes at once.
      for _ in 0..<pings { try receive(.pong) }
      asked += pings
      channel.embeddedEventLoop.advanceTime(by: .milliseconds(5))
    }
    #expect((5...6).contains(asked), "\(asked)")
    #expect(channel.isActive)
  }

  /// The doubt that came last counts as well: it is asked about once the second is over.
  @Test func aDoubtWithinTheSecondIsAskedAboutAfterIt() throws {
    try openForVerifying()
    handler.verify(within: .seconds(3))
    #expect(try sent(within: 0) == [.ping])
    try receive(.pong)
    handler.verify(within: .seconds(3))
    #expect(try sent(within: 0) == [])
    #expect(try sent(within: 1) == [.ping])
    #expect(try sent(within: 2) == [] && channel.isActive)
    #expect(try sent(within: 1) == [] && !channel.isActive)
  }

  @Test func theShorterPatienceCounts() throws {
    try openForVerifying()
    handler.verify(within: .seconds(60))
    handler.verify(within: .seconds(3))
    #expect(try sent(within: 3) == [.ping])
    #expect(!channel.isActive)
  }

  @Test func whoSpeaksByItselfIsNotAsked() throws {
    try open()
    for _ in 0..<5 {
      #expect(try sent(within: 5) == [])
      try receive(.text)
      #expect(try sent(within: 5) == [])
    }
    #expect(try sent(within: 10) == [.ping])
  }

  @Test func anAnswerToAPingIsNoSpeech() throws {
    try open()
    for _ in 0..<5 {
      #expect(try sent(within: 10) == [.ping])
      try receive(.pong)
    }
  }

  @Test func whoAnswersNoPingIsGivenUp() throws {
    try open()
    #expect(try sent(within: 25) == [.ping, .ping])
    #expect(channel.isActive)
    #expect(try sent(within: 5) == [])
    #expect(!channel.isActive)
  }
}
