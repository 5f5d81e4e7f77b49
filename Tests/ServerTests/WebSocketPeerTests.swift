import Foundation
import Testing

@testable import Server

/// Our WebSocket server against another implementation: the Python package `websockets`, where it is installed.
@Suite struct WebSocketPeerTests {
  private static let python = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: ".build/venv/bin/python").path

  private static let script = """
    import asyncio, ssl, sys, websockets
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    url = sys.argv[1]

    async def closes(send, code):
      async with websockets.connect(url, ssl=context, max_size=None) as socket:
        try:
          await send(socket)
          while True: await socket.recv()
        except websockets.ConnectionClosed as error:
          assert error.rcvd is not None and error.rcvd.code == code, (error, code)

    async def main():
      async with websockets.connect(url, ssl=context) as socket:
        for text in ["hello", "", "x" * 65536]:
          await socket.send(text)
          assert await socket.recv() == text.upper()
        await socket.send(["frag", "men", "", "ted"])
        assert await socket.recv() == "FRAGMENTED"
        await asyncio.wait_for(await socket.ping(), 5)
      assert socket.close_code == 1000, socket.close_code
      await closes(lambda s: s.send("leave"), 1001)
      await closes(lambda s: s.send("x" * 65537), 1009)
      await closes(lambda s: s.send(["x" * 40000, "y" * 40000]), 1009)
      await closes(lambda s: s.send(["x"] * 300), 1009)
      await closes(lambda s: s.send(b"bytes"), 1003)
      await closes(lambda s: s.send(b"\\xff\\xfe", text=True), 1007)
    asyncio.run(main())
    """

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "needs Debian's python3"))
  func textFragmentsPingsLimitsAndCloseCodes() async throws {
    let lab = try await WebSocketLab.start()
    let process = Process()
    process.executableURL = URL(filePath: Self.python)
    process.arguments = ["-c", Self.script, "wss://127.0.0.1:\(lab.server.port)/signal"]
    let errors = Pipe()
    process.standardError = errors
    let status = await withCheckedContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(returning: -1) }
    }
    let text = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    #expect(status == 0, "\(text)")
    await lab.server.stop()
  }
}
