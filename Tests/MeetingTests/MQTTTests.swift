import Meeting
import NIOCore
import NIOPosix
import Signaling
import Testing

/// Child and parents at a real mosquitto.
extension RealPeers {
  @Suite(.timeLimit(.minutes(5))) final class MQTTTests {
    enum Way: CaseIterable {
      case five, three, threeAfterSilence, tls
    }

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

    @Test(arguments: Way.allCases)
    func childAndParentTalk(way: Way) async throws {
      let broker = try Broker()
      var places = (broker.place(.child), broker.place(.parents))
      var proxy: BrokerProxy?
      if way == .three || way == .threeAfterSilence {
        let old = try await BrokerProxy(to: broker.port, way == .three ? .refusingFive : .closingFive, on: loop)
        places = (broker.place(.child, port: old.port), broker.place(.parents, port: old.port))
        proxy = old
      } else if way == .tls {
        let authorities = broker.authorities
        places = (
          broker.securePlace(.child, authorities: authorities), broker.securePlace(.parents, authorities: authorities)
        )
      }
      let host = try await host(places.0)
      try await host.present()
      let link = try await link(places.1)
      #expect(try await link.open() == nil)

      try await link.send(.register(room: Self.child, client: "anna-1"))
      guard case .registered(let registration) = try await link.reply() else { return #expect(Bool(false)) }
      #expect(registration.room == Self.child && registration.client == "anna-1" && registration.isInitiator)
      #expect(registration.host == .elsewhere(presence: "here") && SignedMessage.isChallenge(registration.challenge))

      try await link.send(.send(to: Self.child, message: "offer"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "offer"))
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
      let late = try await self.link(places.1, client: "late")
      #expect(try await late.open() == .absent)
      let version = way == .three || way == .threeAfterSilence ? "p2" : "p5"
      #expect(broker.logText.contains("as cradle-\(Self.child) (\(version), c1, k120, u'child')"), "\(broker.logText)")
      try await proxy?.close()
    }

    @Test func aChildThatIsNotThereIsAbsent() async throws {
      let broker = try Broker()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == .absent)
      #expect(link.replies.all.isEmpty && link.closures.all.isEmpty)
    }

    /// The broker makes the child's will known, and the child comes back by itself.
    @Test func aChildThatIsCutOffIsGoneUntilItIsBack() async throws {
      let broker = try Broker()
      let proxy = try await BrokerProxy(to: broker.port, .transparent, on: loop)
      let host = try await host(broker.place(.child, port: proxy.port))
      try await host.present()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == nil)
      try await proxy.cut()
      #expect(try await host.absent() == "it has closed the connection")
      #expect(try await link.reply() == .presence(nil))
      try await host.present()
      #expect(try await link.reply() == .presence("here"))
      try await host.close()
      try await proxy.close()
    }

    /// In another network it is at the place again only when it has connected from there, and says so.
    @Test func aHostWhoseAddressIsGoneIsNotThereUntilItIsAgain() async throws {
      let broker = try Broker()
      let host = try await host(broker.place(.child))
      try await host.present()
      try await host.run { $0.addressesChanged([]) }
      #expect(try await host.absent() == "this machine's addresses have changed")
      try await host.present()
      try await host.close()
      #expect(host.events.all.isEmpty)
    }

    @Test func aParentLearnsThatItsConnectionIsLost() async throws {
      let broker = try Broker()
      let proxy = try await BrokerProxy(to: broker.port, .transparent, on: loop)
      let host = try await host(broker.place(.child))
      try await host.present()
      let link = try await link(broker.place(.parents, port: proxy.port))
      #expect(try await link.open() == nil)
      try await proxy.cut()
      #expect(try await link.closures.next("the end") { $0 } == "it has closed the connection")
      try await link.send(.send(to: Self.child, message: "too late"))
      try await link.close()
      try await host.close()
      #expect(host.events.all.isEmpty && link.closures.all.isEmpty && link.replies.all.isEmpty)
      try await proxy.close()
    }

    @Test func theHostComesBackAfterTheBrokerHas() async throws {
      let broker = try Broker()
      let host = try await host(broker.place(.child))
      try await host.present()
      broker.kill()
      #expect(try await host.absent() == "it has closed the connection")
      try await host.run { $0.announce(presence: "newer") }
      #expect(try await host.absent() == "Connection refused")
      let early = try await link(broker.place(.parents))
      #expect(try await early.open() == .unreachable("Connection refused"))
      try broker.start()
      try await host.present()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == nil)
      try await link.send(.register(room: Self.child, client: "anna-1"))
      guard case .registered(let registration) = try await link.reply() else { return #expect(Bool(false)) }
      #expect(registration.host == .elsewhere(presence: "newer"))
      try await host.close()
    }

    @Test(arguments: [BrokerProxy.Kind.transparent, .refusingFive])
    func aWrongPasswordIsNamed(kind: BrokerProxy.Kind) async throws {
      let broker = try Broker()
      let proxy = try await BrokerProxy(to: broker.port, kind, on: loop)
      let host = try await host(broker.place(.child, port: proxy.port, password: "wrong"))
      #expect(try await host.absent() == "it does not accept the user name and password")
      let link = try await link(broker.place(.parents, port: proxy.port, password: "wrong"))
      #expect(try await link.open() == .unreachable("it does not accept the user name and password"))
      try await host.close()
      try await proxy.close()
    }

    /// MQTT 5 tells it.
    @Test func anAccountThatMayNotBePresentIsNamed() async throws {
      let broker = try Broker()
      let host = try await host(broker.place(.parents))
      #expect(try await host.absent().hasPrefix("this account may not publish cradle/\(Self.child)/presence: "))
      try await host.close()
    }

    @Test func anAccountThatMayNotReadFindsNobody() async throws {
      let broker = try Broker()
      let other = "fedcba9876543210"
      // The child reads only what is for it.
      let host = try await TestHost(broker.place(.child), child: other, on: loop, presence: "here")
      try await host.present()
      let link = try await TestLink(broker.place(.child), child: other, client: "anna-1", on: loop)
      #expect(try await link.open() == .absent)
      try await host.close()
    }

    @Test func aBrokerThatNobodyVouchesForIsRefused() async throws {
      let broker = try Broker()
      let untrusted = try await link(broker.securePlace(.parents, authorities: nil))
      #expect(try await untrusted.open() == .unreachable("TLS fails: certificate verify failed"))
      // The certificate is for 127.0.0.1.
      let misnamed = try await link(
        broker.securePlace(.parents, authorities: broker.authorities, host: "localhost"), client: "anna-2")
      guard case .unreachable(let reason)? = try await misnamed.open() else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("TLS fails: ") && reason.contains("host name"))
      let unread = try await link(broker.securePlace(.parents, authorities: "/nonexistent.pem"), client: "anna-3")
      #expect(try await unread.open() == .unreachable("/nonexistent.pem cannot be read"))
      // A server that speaks no TLS.
      let plain = MeetingPlace.mqtt(MQTTPlace(url: "mqtts://127.0.0.1:\(broker.port)"))
      guard case .unreachable(let other)? = try await link(plain, client: "anna-4").open() else {
        return #expect(Bool(false))
      }
      #expect(!other.isEmpty)
    }

    @Test func strangersDisturbNothing() async throws {
      let broker = try Broker(isLimited: false)
      let proxy = try await BrokerProxy(to: broker.port, .refusingFive, on: loop)
      let host = try await host(broker.place(.child, port: proxy.port))
      try await host.present()
      let stranger = try Stranger(
        port: broker.port, client: "stranger", username: "parents", password: Broker.password(.parents))
      let inbox = "cradle/\(Self.child)/in"
      for text in [
        "", "{", "[]", "null", "{}", #"{"from":"a"}"#, #"{"from":1,"msg":"x"}"#, #"{"from":"a","msg":null}"#,
        #"{"from":"a/b","msg":"x"}"#, #"{"from":"+","msg":"x"}"#, #"{"from":"","msg":"x"}"#,
        #"{"from":"\#(String(repeating: "a", count: 65))","msg":"x"}"#, #"{"error":{"code":"refused","message":"x"}}"#,
        #"{"present":"x"}"#, #"{"absent":true}"#, String(repeating: "[", count: 60_000),
      ] {
        stranger.publish(inbox, Array(text.utf8))
      }
      stranger.publish(inbox, [0xff, 0xfe, 0x00, 0x80])
      stranger.publish(inbox, Array(#"{"from":"a","msg":""#.utf8) + [0xc3, 0x28] + Array(#""}"#.utf8))
      stranger.publish(inbox, [UInt8](repeating: 0x20, count: 64 * 1024 + 1))
      // What it may not do.
      stranger.publish("cradle/\(Self.child)/presence", Array("false".utf8))
      stranger.publish("cradle/\(Self.child)/out/anna-1", Array(#"{"from":"\#(Self.child)","msg":"false"}"#.utf8))

      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == nil)
      try await link.send(.send(to: Self.child, message: "offer"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "offer"))
      #expect(host.events.all.isEmpty)
      try await host.close()
      try await proxy.close()
    }

    @Test func aMessageThatIsTooLongEndsTheConnection() async throws {
      let broker = try Broker(isLimited: false)
      let proxy = try await BrokerProxy(to: broker.port, .refusingFive, on: loop)
      let host = try await host(broker.place(.child, port: proxy.port))
      try await host.present()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == nil)
      let stranger = try Stranger(
        port: broker.port, client: "stranger", username: "parents", password: Broker.password(.parents))
      // Long enough to fill the memory of a small board, if there were more of them.
      stranger.publish("cradle/\(Self.child)/in", [UInt8](repeating: 0x20, count: 24 << 20))
      #expect(try await host.absent() == "it sends a message that is too long")
      try await host.present()
      #expect(try await link.reply() == .presence(nil))
      #expect(try await link.reply() == .presence("here"))
      try await link.send(.send(to: Self.child, message: "once more"))
      #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "once more"))
      try await host.close()
      try await proxy.close()
    }

    /// 256 MB, of which nothing has come yet: the library asks for the memory at once (MQTT 3.1.1 section 2.2.3).
    @Test(arguments: [BrokerProxy.Kind.transparent, .refusingFive])
    func aMessageThatFitsIntoNoMemoryIsCalledTooLong(kind: BrokerProxy.Kind) async throws {
      let broker = try Broker()
      let proxy = try await BrokerProxy(to: broker.port, kind, on: loop)
      let host = try await host(broker.place(.child, port: proxy.port))
      try await host.present()
      try await proxy.send([0x32, 0xff, 0xff, 0xff, 0x7f, 0, 1])
      #expect(try await host.absent() == "it sends a message that is too long")
      try await host.present()
      try await host.close()
      try await proxy.close()
    }

    /// Somebody leaves a message for whoever comes: a broker of MQTT 3.1.1 sends it with every new connection.
    @Test(arguments: [(Way.five, 300_000), (.five, 24 << 20), (.three, 100), (.three, 300_000), (.three, 5 << 20)])
    func whatIsRetainedForTheChildIsPassedOver(way: Way, bytes: Int) async throws {
      let broker = try Broker(isLimited: false)
      let proxy = try await BrokerProxy(to: broker.port, way == .three ? .refusingFive : .transparent, on: loop)
      let stranger = try Stranger(
        port: broker.port, client: "stranger", username: "parents", password: Broker.password(.parents))
      let message = #"{"from":"anna-0","msg":"\#(String(repeating: "x", count: bytes))"}"#
      stranger.publish("cradle/\(Self.child)/in", Array(message.utf8), isRetained: true)
      for _ in 0..<400 where !broker.logText.contains("Received PUBLISH from stranger") {
        try await Task.sleep(for: .milliseconds(10))
      }
      for _ in 0..<2 {
        let host = try await host(broker.place(.child, port: proxy.port))
        try await host.present()
        let link = try await link(broker.place(.parents))
        #expect(try await link.open() == nil)
        try await link.send(.send(to: Self.child, message: "offer"))
        #expect(try await host.message() == RoomDelivery(from: "anna-1", message: "offer"))
        #expect(host.events.all.isEmpty)
        try await host.close()
      }
      try await proxy.close()
    }

    /// Many at once are more than a child has parents for.
    @Test func aFloodIsCutShort() async throws {
      let broker = try Broker()
      let host = try await host(broker.place(.child))
      try await host.present()
      let stranger = try Stranger(
        port: broker.port, client: "stranger", username: "parents", password: Broker.password(.parents))
      let message = Array(#"{"from":"a","msg":"x"}"#.utf8)
      for _ in 0..<5000 { stranger.publish("cradle/\(Self.child)/in", message) }
      _ = try await host.message()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == nil)
      try await host.close()
      #expect(host.events.all.count < 5000)
    }

    @Test func aHostLeavesInEveryState() async throws {
      let broker = try Broker()
      for _ in 0..<20 {
        let host = try await host(broker.place(.child))
        for _ in 0..<Int.random(in: 0...8) { try await Task.sleep(for: .milliseconds(1)) }
        try await host.close()
        #expect(!host.events.all.contains { if case .absent = $0 { true } else { false } })
      }
      let nobody = try await host(broker.place(.child, port: try LocalPort.free()))
      _ = try await nobody.absent()
      try await nobody.close()
      let link = try await link(broker.place(.parents))
      #expect(try await link.open() == .absent)
      try await ConnectionThreads.areGone("mqtt")
    }

    @Test func aLinkIsClosedInEveryState() async throws {
      let broker = try Broker()
      let host = try await host(broker.place(.child))
      try await host.present()
      for number in 0..<20 {
        let link = try await link(broker.place(.parents), client: "anna-\(number)")
        let outcome = try await link.beginToOpen()
        for _ in 0..<Int.random(in: 0...8) { try await Task.sleep(for: .milliseconds(1)) }
        try await link.close()
        let before = outcome.all.count
        try await Task.sleep(for: .milliseconds(5))
        #expect(outcome.all.count == before)
        #expect(link.closures.all.isEmpty && link.replies.all.isEmpty)
      }
      try await host.close()
      try await ConnectionThreads.areGone("mqtt")
    }
  }
}
