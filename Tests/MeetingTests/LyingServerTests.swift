import Foundation
import Meeting
import NIOCore
import NIOPosix
import Signaling
import TestSupport
import Testing

/// What a server sends may end the process that reads it, and nothing else.
extension RealPeers {
  @Suite(.timeLimit(.minutes(3))) final class LyingServerTests {
    private static let child = "0123456789abcdef"
    private static let costly = "what it sent took seconds of processor time"
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var loop: any EventLoop { group.any() }

    deinit { try? group.syncShutdownGracefully() }

    private func place(_ server: LyingServer, isXMPP: Bool) -> MeetingPlace {
      isXMPP
        ? .xmpp(
          XMPPPlace(
            account: XMPPServer.address(.child), password: "secret", child: XMPPServer.address(.child),
            host: "127.0.0.1", port: server.port))
        : .mqtt(MQTTPlace(url: "mqtt://127.0.0.1:\(server.port)"))
    }

    private func host(_ server: LyingServer, isXMPP: Bool) async throws -> TestHost {
      try await TestHost(place(server, isXMPP: isXMPP), child: Self.child, on: loop, presence: "here")
    }

    @Test(arguments: Lie.allCases)
    func aServerEndsAConnectionAtMost(lie: Lie) async throws {
      let server = try LyingServer(lie.steps)
      let host = try await host(server, isXMPP: lie.isXMPP)
      let reason = try await host.absent()
      // Later versions of the libraries may say what is wrong instead.
      #expect(reason.hasPrefix("its connection process ended (signal ") || reason.hasPrefix("what it sends is not"))
      // It is tried again.
      _ = try await host.absent()
      #expect(server.connections >= 2)
      let link = try await TestLink(
        place(server, isXMPP: lie.isXMPP), child: Self.child, client: "anna-1", on: loop)
      guard case .unreachable(let words)? = try await link.open() else { return #expect(Bool(false)) }
      #expect(words == reason)
      try await host.close()
      try await ConnectionThreads.areGone(lie.isXMPP ? "xmpp" : "mqtt")
      #expect(try ConnectionProcess.all().isEmpty)
    }

    /// Two thousand million iterations of SCRAM: five seconds of them, then a minute without this server, for host and parent.
    @Test func aServerThatMakesUsComputeIsLeftAlone() async throws {
      let server = try XMPPLie.expensivePassword.server()
      let host = try await host(server, isXMPP: true)
      var used: Duration = .zero
      for _ in 0..<600 where used < .seconds(20) {
        let process = try ConnectionProcess.all().first
        if let time = process.flatMap({ ConnectionProcess.processorTime(of: $0) }) { used = max(used, time) }
        if !host.events.all.isEmpty { break }
        try await Task.sleep(for: .milliseconds(50))
      }
      var reason = try await host.absent()
      // A busy machine has no five seconds for it in the time that a connection may take.
      if !reason.hasPrefix(Self.costly) { reason = try await host.absent() }
      #expect(reason.hasPrefix(Self.costly), "\(reason)")
      #expect(used < .seconds(7), "\(used)")
      // Each try ends at once.
      #expect(try await host.absent() == reason)
      #expect(try await host.absent() == reason)
      let link = try await TestLink(place(server, isXMPP: true), child: Self.child, client: "anna-1", on: loop)
      guard case .unreachable(reason)? = try await link.open() else { return #expect(Bool(false)) }
      #expect(server.connections == 1)
      #expect(try ConnectionProcess.all().isEmpty)
      try await host.close()
      try await ConnectionThreads.areGone("xmpp")
    }

    /// Whoever gives up before the limit of 5 s remembers the server, too.
    @Test func aServerThatMadeUsComputeIsLeftAloneAfterItWasGivenUp() async throws {
      let server = try XMPPLie.expensivePassword.server()
      let first = try await host(server, isXMPP: true)
      for _ in 0..<1200 {
        let used = try ConnectionProcess.all().first.flatMap { ConnectionProcess.processorTime(of: $0) }
        if let used, used > .seconds(3) { break }
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(first.events.all.isEmpty)
      try await first.close()
      try await ConnectionThreads.areGone("xmpp")
      let second = try await host(server, isXMPP: true)
      let reason = try await second.absent()
      #expect(reason.hasPrefix(Self.costly), "\(reason)")
      #expect(server.connections == 1)
      try await second.close()
    }

    /// Too few for the limit of 5 s: some three seconds. The server is left alone all the same.
    @Test func aServerThatMakesUsComputeALittleLessIsLeftAlone() async throws {
      let server = try XMPPLie.server(iterations: 4_500_000)
      let host = try await host(server, isXMPP: true)
      let reason = try await host.absent()
      #expect(reason.hasPrefix(Self.costly), "\(reason)")
      #expect(try await host.absent() == reason)
      #expect(server.connections == 1)
      try await host.close()
      try await ConnectionThreads.areGone("xmpp")
      #expect(try ConnectionProcess.all().isEmpty)
    }

    @Test func aConnectionProcessThatIsKilledIsMissedAndReplaced() async throws {
      let broker = try Broker()
      let host = try await TestHost(broker.place(.child), child: Self.child, on: loop, presence: "here")
      try await host.present()
      let process = try #require(ConnectionProcess.all().first)
      // No secret can be read off it.
      // Its environment and descriptors are root's to see alone: it is not dumpable.
      let files = getuid() == 0 ? ["cmdline", "environ"] : ["cmdline"]
      for file in files {
        let text = try ConnectionProcess.text(file, of: process)
        #expect(!text.contains(Broker.password(.child)), "\(file)")
      }
      #expect(try ConnectionProcess.text("cmdline", of: process).hasSuffix("\0meeting-link\0"))
      if getuid() == 0 {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        #expect(descriptors.count <= 12, "\(descriptors)")
      }
      #expect(try ConnectionProcess.text("status", of: process).contains("NoNewPrivs:\t1"))
      // As when a service is stopped: the one that started it says goodbye first.
      kill(process, SIGTERM)
      try await Task.sleep(for: .milliseconds(100))
      #expect(try ConnectionProcess.all() == [process])
      kill(process, SIGKILL)
      #expect(try await host.absent() == "its connection process ended (signal 9)")
      try await host.present()
      try await host.close()
      try await ConnectionThreads.areGone("mqtt")
      #expect(try ConnectionProcess.all().isEmpty)
    }

    @Test func aProgramThatIsNotThereIsNamed() async throws {
      let events = Observed<MeetingHostEvent>()
      let place = MeetingPlace.mqtt(MQTTPlace(url: "mqtt://127.0.0.1:1"))
      let host = try await Confined<MeetingHost>(loop) { [loop] in
        let program = MeetingProgram(path: "/nowhere")
        let host = place.host(child: Self.child, program: program, eventLoop: loop) { _, _ in "" }
        host.onEvent = { events.add($0) }
        host.open(presence: "here")
        return host
      }
      let reason = try await events.next("absent") { if case .absent(let reason) = $0 { reason } else { nil } }
      #expect(reason == "its connection process cannot be started: No such file or directory")
      try await host.run { $0.close {} }
    }

    /// A program that says what it likes in place of ours.
    @Test(arguments: [#"\377\377\377\377"#, #"\000\000\000\001\011"#, #"\000\000\000\005\002\177\377\377\377"#])
    func whatAConnectionProcessSaysIsChecked(bytes: String) async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try "#!/bin/sh\nprintf '\(bytes)' >&0\nexec sleep 60\n".write(to: file, atomically: true, encoding: .utf8)
      chmod(file.path, 0o700)
      defer { try? FileManager.default.removeItem(at: file) }
      let events = Observed<MeetingHostEvent>()
      let place = MeetingPlace.mqtt(MQTTPlace(url: "mqtt://127.0.0.1:1"))
      let host = try await Confined<MeetingHost>(loop) { [loop] in
        let program = MeetingProgram(path: file.path)
        let host = place.host(child: Self.child, program: program, eventLoop: loop) { _, _ in "" }
        host.onEvent = { events.add($0) }
        host.open(presence: "here")
        return host
      }
      let reason = try await events.next("absent") { if case .absent(let reason) = $0 { reason } else { nil } }
      #expect(reason == "its connection process says what cannot be read")
      try await host.run { $0.close {} }
      try await ConnectionThreads.areGone("mqtt")
    }

    @Test func whatAServerSaysForAPersonIsOneShortPrintableLine() async throws {
      let stream =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>"
      let name = "urn:ietf:params:xml:ns:xmpp-streams"
      let evil = "evil \u{9b}31m RED \u{202e} \n23:59:59 note\u{7f}" + String(repeating: "Z", count: 20_000)
      let server = try LyingServer([
        .init(
          after: "<stream:stream",
          say: stream + "<stream:error><undefined-condition xmlns='\(name)'/><text xmlns='\(name)'>\(evil)</text>"
            + "</stream:error></stream:stream>")
      ])
      let host = try await host(server, isXMPP: true)
      let reason = try await host.absent()
      let words = "it has ended the connection, in its own words: “evil 31m RED   23:59:59 noteZZZ"
      #expect(reason.hasPrefix(words), "\(reason)")
      #expect(reason.unicodeScalars.count < 260)
      try await host.close()
    }

    /// Anybody with an account somewhere can write to the child's: what is not for it adds up to no message that is too long.
    @Test func manyShortMessagesOfStrangersAreNoLongOne() async throws {
      let message =
        "<message type='chat' from='eve@evil.test/x'><body>\(String(repeating: "hello", count: 60))</body></message>"
      let question = "<iq type='get' id='q' from='child@cradle.test/anna'><child xmlns='urn:cradle:meeting:1'/></iq>"
      let server = try LyingServer(
        Lie.session + [
          .init(after: "<presence", say: String(repeating: message, count: 2500) + question),
          .init(after: "type='result' id='q'", say: question),
        ])
      let host = try await host(server, isXMPP: true)
      try await host.present()
      // It has read them all when it answers.
      for _ in 0..<400 where server.said < 2500 * message.utf8.count + 2 * question.utf8.count {
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(server.said > 2500 * message.utf8.count + question.utf8.count)
      #expect(server.connections == 1 && host.events.all.isEmpty, "\(host.events.all)")
      try await host.close()
      try await ConnectionThreads.areGone("xmpp")
    }

    /// Some is taken at once and fills the kernel's buffers; then as much as a child can pass over.
    @Test func aFloodWaitsInTheServer() async throws {
      let stanza = "<iq type='get' id='1' from='child@cradle.test/anna'><child xmlns='urn:cradle:meeting:1'/></iq>"
      let flood = Array(String(repeating: stanza, count: 300).utf8)
      let server = try LyingServer(Lie.session, flood: flood)
      let host = try await host(server, isXMPP: true)
      try await host.present()
      try await Task.sleep(for: .seconds(2))
      let before = server.said
      try await Task.sleep(for: .seconds(2))
      let after = server.said
      print("flood: \(before) bytes at first, then \(after - before) in two seconds")
      #expect(after - before < 2 << 20)
      try await host.close()
      try await ConnectionThreads.areGone("xmpp")
    }
  }
}
