import Foundation
import SecureTransport
import Server
import TURN
import Testing
import Wire

/// The TURN client and coturn.
extension RealPeers {
  @Suite(.timeLimit(.minutes(3))) struct RelayTests {
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

    @Test func aQuotaIsToldAsSuchAndClosingMakesRoom() async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret", "--user-quota=1"])
      let server = try Self.server(process, .udp)
      let first = try await RelayUser(server, Self.alice)
      _ = try await first.outcome().get()
      let second = try await RelayUser(server, Self.alice)
      #expect(try await second.outcome() == .failure(.quotaReached))
      #expect(try await first.close() == .closed)
      // The server counts a session until it has cleaned up behind it.
      var outcome: Result<TransportAddress, TURNFailure> = .failure(.timedOut)
      for _ in 0..<40 where (try? outcome.get()) == nil {
        try await Task.sleep(for: .milliseconds(500))
        outcome = try await RelayUser(server, Self.alice).outcome()
      }
      #expect(throws: Never.self) { try outcome.get() }
    }

    @Test func credentialsThatExpireAreAccepted() async throws {
      let process = try TURNServerProcess(["--use-auth-secret", "--static-auth-secret=shared between two"])
      let server = try Self.server(process, .udp)
      let now = RelayUser.now
      let clock = WallClockReference(
        instant: now, unixNanoseconds: Int64(Date().timeIntervalSince1970 * 1000) * 1_000_000)
      func credentials(_ secret: String, lifetime: Duration) -> TURNCredentials {
        TURNCredentials(
          sharedSecret: Array(secret.utf8), name: "nursery", lifetime: lifetime, clock: clock, now: now,
          hashes: CryptoHashes())
      }
      let user = try await RelayUser(server, credentials("shared between two", lifetime: .seconds(600)))
      _ = try await user.outcome().get()
      // Half of this time is over soon.
      let brief = try await RelayUser(server, credentials("shared between two", lifetime: .seconds(5)))
      _ = try await brief.outcome().get()
      try await brief.renewalDue()
      let stranger = try await RelayUser(server, credentials("guessed", lifetime: .seconds(600)))
      #expect(try await stranger.outcome() == .failure(.unauthorized))
      var late = credentials("shared between two", lifetime: .seconds(600))
      late = TURNCredentials(username: "1000000000:nursery", password: late.password)
      #expect(try await RelayUser(server, late).outcome() == .failure(.unauthorized))
    }

    @Test func anIPv6AddressIsRelayed() async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let server = try Self.server(process, .udp)
      let one = try await RelayUser(server, Self.alice, wantsIPv6: true)
      let other = try await RelayUser(server, Self.alice, wantsIPv6: true, echoes: true)
      let (address, target) = (try await one.outcome().get(), try await other.outcome().get())
      #expect(address.ip.isIPv6 && target.ip.isIPv6)
      try await other.permit(address)
      try await one.send([[1, 2, 3]], to: target)
      #expect(try await one.received(count: 1).map(\.payload) == [[1, 2, 3]])
    }

    @Test(arguments: [TURNTransport.udp, .tcp])
    func aServerWithAnIPv6AddressIsReached(transport: TURNTransport) async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret", "--listening-ip=::1"])
      let url = try #require(ICEServerURL("turn:[::1]:\(process.port)?transport=\(transport.rawValue)"))
      let server = try #require(RelayServer(url, address: .v6(0, 1), tls: try RelayTLS()))
      let user = try await RelayUser(server, Self.alice)
      let own = try await user.outcome().get()
      #expect(!own.ip.isIPv6)
      try await user.send([[1, 2]], to: own)
      #expect(try await user.received(count: 1).map(\.payload) == [[1, 2]])
    }

    /// Each request after the first seconds meets a nonce that is over.
    @Test func aNewNonceIsTaken() async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret", "--stale-nonce=1", "-v"])
      let server = try Self.server(process, .udp)
      let one = try await RelayUser(server, Self.alice)
      let other = try await RelayUser(server, Self.alice, echoes: true)
      let (address, target) = (try await one.outcome().get(), try await other.outcome().get())
      try await Task.sleep(for: .seconds(3))
      try await other.permit(address)
      try await one.send([[1]], to: target)
      _ = try await one.received(count: 1)
      #expect(process.logText.contains("error 438"), "\(process.logText)")
    }

    @Test func aForbiddenPeerIsToldAndTheAllocationGoesOn() async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret", "--denied-peer-ip=127.0.0.2"])
      let user = try await RelayUser(try Self.server(process, .udp), Self.alice)
      let own = try await user.outcome().get()
      let forbidden = TransportAddress(ip: .v4(0x7f00_0002), port: 9)
      try await user.send([[1]], to: forbidden)
      #expect(try await user.refusals().map(\.peer) == [forbidden])
      #expect(try await user.refusals().map(\.code) == [403])
      try await user.send([[2]], to: own)
      #expect(try await user.received(count: 1).map(\.payload) == [[2]])
    }

    /// The addresses of config/turnserver.conf, also as IPv4 within IPv6, which coturn 4.6 looks at as any other address.
    @Test func theSampleDeniesPrivatePeers() throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let denied = try String(contentsOf: root.appending(path: "config/turnserver.conf"), encoding: .utf8)
        .split(separator: "\n").filter { $0.hasPrefix("denied-peer-ip=") }.map { "--\($0)" }
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"] + denied)
      let private4 = ["10.1.2.3", "100.64.0.1", "127.0.0.2", "169.254.1.1", "172.16.0.1", "192.168.1.1"]
      let private6 = ["::1", "::ffff:10.1.2.3", "::ffff:127.0.0.1", "64:ff9b::a01:203", "fd00::1", "fe80::1"]
      let elsewhere = ["192.0.2.1", "2001:db8::1"]
      let (output, log, _) = try ChildProcess.run(
        "python3",
        [root.appending(path: "Tests/Interop/peers/turn_permissions.py").path, "\(process.port)", "alice", "secret"]
          + private4 + private6 + elsewhere)
      let codes = try JSONDecoder().decode([String: Int].self, from: Data(output.utf8))
      for address in private4 + private6 { #expect(codes[address] == 403, "\(address) \(log)") }
      for address in elsewhere { #expect(codes[address] == 0, "\(address)") }
    }

    @Test func aServerMaySendItsUsersElsewhere() async throws {
      let real = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let process = try TURNServerProcess(
        ["--lt-cred-mech", "--user=alice:secret", "--alternate-server=127.0.0.1:\(real.port)"])
      let user = try await RelayUser(try Self.server(process, .udp), Self.alice)
      _ = try await user.outcome().get()
      real.stop()
    }

    @Test func aCertificateOfNobodyIsRefused() async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let user = try await RelayUser(try Self.server(process, .tls, trust: .system), Self.alice)
      guard case .failure(.transportLost(let reason)) = try await user.outcome() else {
        throw TURNServerProcess.Problem(description: "it was accepted")
      }
      #expect(reason.contains("certificate"), "\(reason)")
    }

    @Test(arguments: [TURNTransport.tcp, .tls])
    func aServerThatDiesIsNoticed(transport: TURNTransport) async throws {
      let process = try TURNServerProcess(["--lt-cred-mech", "--user=alice:secret"])
      let server = try Self.server(process, transport)
      let user = try await RelayUser(server, Self.alice)
      _ = try await user.outcome().get()
      process.stop()
      #expect(try await user.end() == .transportLost("the connection was lost"))
      // And nobody is there any more.
      let late = try await RelayUser(server, Self.alice)
      #expect(
        try await late.outcome()
          == .failure(.transportLost("the connection was refused; nothing listens at this port")))
    }
  }
}
