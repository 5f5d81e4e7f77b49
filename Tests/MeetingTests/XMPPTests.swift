import Foundation
import NIOCore
import NIOPosix
import Signaling
import Testing

@testable import Meeting

/// Child and parents at a real prosody.
extension RealPeers {
  @Suite(.timeLimit(.minutes(5))) final class XMPPTests {
    private static let child = "0123456789abcdef"
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var loop: any EventLoop { group.any() }

    deinit { try? group.syncShutdownGracefully() }

    private func host(_ place: MeetingPlace, presence: String = "here") async throws -> TestHost {
      try await TestHost(place, child: Self.child, on: loop, presence: presence)
    }

    private func link(_ place: MeetingPlace, client: String = "anna-1") async throws -> TestLink {
      try await TestLink(place, child: Self.child, client: client, on: loop)
    }

    /// With an account of the parents' own or the child's; with TLS that is checked, or without a known authority.
    @Test(arguments: [XMPPServer.Account.parents, .child], [true, false])
    func childAndParentTalk(account: XMPPServer.Account, isChecked: Bool) async throws {
      let server = try XMPPServer()
      let authorities = isChecked ? server.authorities : nil
      let host = try await host(server.place(.child, authorities: authorities))
      try await host.present()
      let link = try await link(server.place(account, authorities: authorities))
      #expect(try await link.open() == nil)

      try await link.send(.register(room: Self.child, client: "anna-1"))
      guard case .registered(let registration) = try await link.reply() else { return #expect(Bool(false)) }
      #expect(registration.room == Self.child && registration.client == "anna-1" && registration.isInitiator)
      #expect(registration.host == .elsewhere(presence: "here") && SignedMessage.isChallenge(registration.challenge))

      try await link.send(.send(to: Self.child, message: "<offer> & 'more'"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "<offer> & 'more'"))
      let long = String(repeating: "x", count: SignedMessage.maximumBytes)
      try await host.run { host in
        host.vouch(for: "anna-1", lifetime: nil)
        host.send(to: "anna-1", message: "answer")
        host.send(to: "anna-1", message: long)
        host.send(to: "somebody-else", message: "not for anna")
        host.send(to: "a/b", message: "no name")
        host.announce(presence: "still here")
        host.dismiss("anna-1", reason: "go")
      }
      #expect(try await link.reply() == .message(RoomDelivery(from: Self.child, message: "answer")))
      #expect(try await link.reply() == .message(RoomDelivery(from: Self.child, message: long)))
      #expect(try await link.reply() == .presence("still here"))
      #expect(try await link.reply() == .error(RoomError(.refused, "go")))

      try await host.close()
      #expect(try await link.reply() == .presence(nil))
      #expect(link.closures.all.isEmpty)
      try await link.close()
      let late = try await self.link(server.place(account, authorities: authorities), client: "late")
      #expect(try await late.open() == .absent)
    }

    @Test func aChildThatIsCutOffIsGoneUntilItIsBack() async throws {
      let server = try XMPPServer()
      let proxy = try await BrokerProxy(to: server.port, .transparent, on: loop)
      let host = try await host(server.place(.child, port: proxy.port))
      try await host.present()
      let link = try await link(server.place(.parents))
      #expect(try await link.open() == nil)
      try await proxy.cut()
      #expect(try await host.absent() == "it has closed the connection")
      #expect(try await link.reply() == .presence(nil))
      try await host.present()
      // The child has forgotten who wants to be told: it is asked again.
      #expect(try await link.reply() == .presence("here"))
      let again = try await self.link(server.place(.parents), client: "anna-2")
      #expect(try await again.open() == nil)
      try await host.close()
      try await proxy.close()
    }

    @Test func aHostWhoseAddressIsGoneIsNotThereUntilItIsAgain() async throws {
      let server = try XMPPServer()
      let host = try await host(server.place(.child))
      try await host.present()
      try await host.run { $0.addressesChanged([]) }
      #expect(try await host.absent() == "this machine's addresses have changed")
      try await host.present()
      try await host.close()
      #expect(host.events.all.isEmpty)
    }

    @Test func theHostComesBackAfterTheServerHas() async throws {
      let server = try XMPPServer()
      let host = try await host(server.place(.child))
      try await host.present()
      let before = try await link(server.place(.parents))
      #expect(try await before.open() == nil)
      server.kill()
      #expect(try await before.closures.next("the end") { $0 } == "it has closed the connection")
      #expect(try await host.absent() == "it has closed the connection")
      try await host.run { $0.announce(presence: "newer") }
      let early = try await link(server.place(.parents))
      #expect(try await early.open() == .unreachable("Connection refused"))
      try server.start()
      try await host.present()
      let link = try await link(server.place(.parents))
      #expect(try await link.open() == nil)
      try await link.send(.register(room: Self.child, client: "anna-1"))
      guard case .registered(let registration) = try await link.reply() else { return #expect(Bool(false)) }
      #expect(registration.host == .elsewhere(presence: "newer"))
      try await host.close()
    }

    /// Questions pass, so parents see the child; messages do not.
    @Test(arguments: [false, true])
    func aServerThatRefusesMessagesIsFound(refuses: Bool) async throws {
      let server = try XMPPServer(refusesMessages: refuses)
      let host = try await host(server.place(.child))
      try await host.present()
      let (place, loop) = (server.place(.parents), loop)
      async let answer = MeetingProbe.call(Self.child, at: place, program: BuiltProgram.child, on: loop)
      if !refuses {
        let delivery = try await host.message()
        #expect(delivery.message == MeetingCheck.message)
        try await host.run { $0.dismiss(delivery.from, reason: "a check") }
      }
      #expect(await answer == (refuses ? .unanswered : .answered))
      if refuses {
        // A session learns of it, and goes on elsewhere.
        let link = try await link(place)
        #expect(try await link.open() == nil)
        try await link.send(.send(to: Self.child, message: "offer"))
        guard case .error(let error) = try await link.reply() else { return #expect(Bool(false)) }
        #expect(error.code == .undelivered)
        try await link.close()
      }
      #expect(host.events.all.isEmpty)
      try await host.close()
    }

    @Test func aWrongPasswordIsNamed() async throws {
      let server = try XMPPServer()
      let host = try await host(server.place(.child, password: "wrong"))
      #expect(try await host.absent() == "it does not accept the account's password")
      let link = try await link(server.place(.parents, password: "wrong"))
      #expect(try await link.open() == .unreachable("it does not accept the account's password"))
      try await host.close()
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
      let server = try XMPPServer(certificateFor: "other.test")
      let link = try await link(server.place(.parents, authorities: server.authorities))
      guard case .unreachable(let reason)? = try await link.open() else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("TLS fails: its certificate is not trusted"), "\(reason)")
    }

    /// It neither learns whether the child is there, nor does it reach it.
    @Test func strangersAreNotListenedTo() async throws {
      let server = try XMPPServer()
      let host = try await host(server.place(.child))
      try await host.present()
      let stranger = try await link(server.place(.stranger), client: "eve")
      #expect(try await stranger.open() == .absent)
      let link = try await link(server.place(.parents))
      #expect(try await link.open() == nil)
      try await link.send(.send(to: Self.child, message: "offer"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "offer"))
      #expect(host.events.all.isEmpty)
      try await host.close()
    }

    /// Anybody with an account somewhere can send to the child's: 600 messages, more than a parent may send at once.
    @Test func strangersUseUpNothingOfTheParents() async throws {
      let server = try XMPPServer(rate: 1000)
      let host = try await host(server.place(.child))
      try await host.present()
      guard case .xmpp(let place) = server.place(.stranger) else { return #expect(Bool(false)) }
      let sent = loop.makePromise(of: Void.self)
      let child = "\(XMPPServer.address(.child))/cradle"
      let loop = loop
      let stranger = try await loop.submit {
        var flood: XMPPConnection?
        let connection = XMPPConnection(place, resource: "eve", program: BuiltProgram.child, eventLoop: loop) { event in
          guard case .open = event else { return }
          for batch in 0..<3 {
            loop.assumeIsolated().scheduleTask(in: .milliseconds(300 * Int64(batch))) {
              for _ in 0..<200 { flood?.order(.message("x", to: child)) }
              if batch == 2 { sent.succeed() }
            }
          }
        }
        flood = connection
        return NIOLoopBound(connection, eventLoop: loop)
      }.get()
      try await sent.futureResult.get()
      let link = try await link(server.place(.parents))
      #expect(try await link.open() == nil)
      try await link.send(.send(to: Self.child, message: "offer"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "offer"))
      try await loop.submit { stranger.value.abandon() }.get()
      try await host.close()
    }

    @Test func bothEndsLeaveInEveryState() async throws {
      let server = try XMPPServer()
      for number in 0..<10 {
        let host = try await host(server.place(.child))
        for _ in 0..<Int.random(in: 0...40) { try await Task.sleep(for: .milliseconds(1)) }
        try await host.close()
        let link = try await link(server.place(.parents), client: "anna-\(number)")
        let outcome = try await link.beginToOpen()
        for _ in 0..<Int.random(in: 0...40) { try await Task.sleep(for: .milliseconds(1)) }
        try await link.close()
        let before = outcome.all.count
        try await Task.sleep(for: .milliseconds(5))
        #expect(outcome.all.count == before && link.closures.all.isEmpty && link.replies.all.isEmpty)
      }
      let nobody = try await host(server.place(.child, port: try LocalPort.free()))
      _ = try await nobody.absent()
      try await nobody.close()
      try await ConnectionThreads.areGone("xmpp")
    }

    /// The library waits for the rest of the handshake as long as it takes.
    @Test func nobodyWaitsForAServerThatFallsSilentWithinTLS() async throws {
      let server = try await StallingServer(on: loop)
      let host = try await host(
        .xmpp(
          XMPPPlace(
            account: XMPPServer.address(.child), password: "secret", child: XMPPServer.address(.child),
            host: "127.0.0.1", port: server.port)))
      try await server.stalled.next("the handshake") { $0 }
      try await host.close()
      try await ConnectionThreads.areGone("xmpp")
      try await server.close()
    }
  }
}
