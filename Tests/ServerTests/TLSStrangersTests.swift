import NIOCore
import NIOPosix
import Testing

@testable import Server

/// Who connects to the HTTPS port and never gets through the handshake.
@Suite(.timeLimit(.minutes(2))) struct TLSStrangersTests {
  private func connect(_ port: Int) async throws -> any Channel {
    try await ClientBootstrap(group: WebSocketLab.loop).connect(host: "127.0.0.1", port: port).get()
  }

  private static let greetings: [[UInt8]] = [
    // Nothing; half a ClientHello; one that announces more than 100 kB.
    [], [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 1, 2, 3], [22, 3, 1, 0x40, 0, 1, 1, 0xf0, 0, 3, 3],
    // Another protocol; a record over the limit.
    Array("GET / HTTP/1.1\r\n\r\n".utf8), [22, 3, 1, 0xff, 0xff, 1, 2, 3],
  ]

  @Test(arguments: greetings)
  func isLetGoInTime(greeting: [UInt8]) async throws {
    var limits = HTTPServer.Limits()
    limits.requestTimeout = .milliseconds(300)
    let lab = try await WebSocketLab.start(requests: limits)
    let stranger = try await connect(lab.server.port)
    if !greeting.isEmpty { try await stranger.writeAndFlush(ByteBuffer(bytes: greeting)) }
    // The server's doing: nobody else closes it.
    try await stranger.closeFuture.get()
    await lab.server.stop()
  }

  @Test func whoLeavesInTheMiddleTakesNothingAlong() async throws {
    let lab = try await WebSocketLab.start()
    for greeting in Self.greetings {
      let stranger = try await connect(lab.server.port)
      if !greeting.isEmpty { try await stranger.writeAndFlush(ByteBuffer(bytes: greeting)) }
      try? await stranger.close()
    }
    let socket = try await lab.open()
    socket.send("hello")
    #expect(await socket.next() == .text("HELLO"))
    socket.close()
    await lab.server.stop()
  }
}
