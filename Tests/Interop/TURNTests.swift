import Foundation
import SecureTransport
import Server
import TURN
import Testing
import Wire

/// The TURN client and coturn.
extension RealPeers {
  @Suite(.timeLimit(.minutes(3))) struct TURNTests {
    private static let alice = TURNCredentials(username: "alice", password: "secret")

    private static func server(
      _ process: TURNServerProcess, _ transport: TURNTransport, trust: TLSTrust? = nil
    ) throws -> RelayServer {
      let text =
        switch transport {
        case .udp: "turn:127.0.0.1:\(process.port)?transport=udp"
        case .tcp: "turn:127.0.0.1:\(process.port)?transport=tcp"
        case .tls: "turns:127.0.0.1:\(process.tlsPort)"
        }
      let url = try #require(ICEServerURL(text))
      let tls = try RelayTLS(trust: trust ?? .authorities(file: process.authorities))
      return try #require(RelayServer(url, address: .v4(0x7f00_0001), tls: tls))
    }

    @Test(arguments: TURNTransport.allCases)
    func datagramsPassBetweenTwoAllocations(transport: TURNTransport) async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let server = try Self.server(process, transport)
      let one = try await RelayUser(server, Self.alice)
      let other = try await RelayUser(server, Self.alice, echoes: true)
      let (address, target) = (try await one.outcome().get(), try await other.outcome().get())
      try await other.permit(address)
      // Sizes around the padding, then those of media, a few at a time as a path would carry them.
      let payloads = (1...200).map { number in [UInt8](repeating: UInt8(number), count: number < 20 ? number : 1200) }
      var count = 0
      for start in stride(from: 0, to: payloads.count, by: 10) {
        try await one.send(Array(payloads[start..<start + 10]), to: target)
        count += 10
        _ = try await one.received(count: count)
      }
      let echoed = try await one.received(count: payloads.count)
      #expect(echoed.map(\.payload) == payloads)
      #expect(echoed.allSatisfy { $0.from == target })
      #expect(try await other.received(count: payloads.count).allSatisfy { $0.from == address })
      for user in [one, other] { #expect(try await user.close() == .closed) }
      #expect(!process.logText.contains("error 4"), "\(process.logText)")
    }

    @Test(arguments: TURNTransport.allCases)
    func aWrongPasswordIsToldAsSuch(transport: TURNTransport) async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let user = try await RelayUser(
        try Self.server(process, transport), TURNCredentials(username: "alice", password: "wrong"))
      #expect(try await user.outcome() == .failure(.unauthorized))
    }
  }
}
