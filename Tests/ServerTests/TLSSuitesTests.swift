import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Testing

@testable import Server

/// What a family's own RSA certificate could do, asked by OpenSSL's client.
@Suite(.timeLimit(.minutes(2))) struct TLSSuitesTests {
  /// Runs a shell command; its exit status and what it printed.
  private static func run(_ command: String) async throws -> (status: Int32, output: String) {
    try await NIOThreadPool.singleton.runIfActive {
      guard let pipe = popen("\(command) 2>&1", "r") else { return (-1, "") }
      var output = ""
      var line = [CChar](repeating: 0, count: 4096)
      while let text = fgets(&line, Int32(line.count), pipe) { output += String(cString: text) }
      return (pclose(pipe), output)
    }
  }

  private struct Rig {
    let server: HTTPServer
    let folder: String
  }

  private static func start() async throws -> Rig {
    var template = Array("/tmp/cradle-tls-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    let made = try await run(
      "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=cradle -days 2 -keyout \(folder)/key -out \(folder)/certificate"
    )
    try #require(made.status == 0, "\(made.output)")
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(certificateFile: "\(folder)/certificate", keyFile: "\(folder)/key"),
      on: loop
    ) { _ in loop.makeSucceededFuture(HTTPResponse(contentType: "text/plain", text: "ok")) }
    return Rig(server: server, folder: folder)
  }

  /// Whether a client that offers nothing but `options` gets through the handshake.
  private static func connects(_ rig: Rig, _ options: String) async throws -> Bool {
    let result = try await run(
      "echo | timeout 20 openssl s_client -connect 127.0.0.1:\(rig.server.port) \(options)")
    return result.output.contains("Cipher is ") && !result.output.contains("Cipher is (NONE)")
  }

  @Test func onlySuitesWithForwardSecrecyAndAuthenticatedEncryptionAreTaken() async throws {
    let rig = try await Self.start()
    for options in [
      "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256", "-tls1_2 -cipher ECDHE-RSA-AES256-GCM-SHA384",
      "-tls1_2 -cipher ECDHE-RSA-CHACHA20-POLY1305", "-tls1_3",
    ] {
      #expect(try await Self.connects(rig, options), "\(options)")
    }
    for options in [
      // RSA key exchange.
      "-tls1_2 -cipher AES128-GCM-SHA256", "-tls1_2 -cipher AES256-GCM-SHA384", "-tls1_2 -cipher AES128-SHA",
      // CBC.
      "-tls1_2 -cipher ECDHE-RSA-AES128-SHA", "-tls1_2 -cipher ECDHE-RSA-AES256-SHA",
      "-tls1_2 -cipher ECDHE-RSA-AES128-SHA256",
      "-tls1_1 -cipher ALL:@SECLEVEL=0", "-tls1 -cipher ALL:@SECLEVEL=0",
    ] {
      #expect(try await !Self.connects(rig, options), "\(options)")
    }
    await rig.server.stop()
    _ = try await Self.run("rm -r \(rig.folder)")
  }
}
