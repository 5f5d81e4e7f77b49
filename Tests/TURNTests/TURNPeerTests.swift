import STUN
import TURN
import TestSupport
import Testing
import Wire

/// Permissions, channels and what passes over them.
@Suite struct TURNPeerTests {
  private func address(_ last: UInt32, port: UInt16 = 6000) -> TransportAddress {
    TransportAddress(ip: .v4(0xc633_6400 | last), port: port)
  }

  @Test func theFirstDatagramWaitsForItsChannelAndNothingIsLost() {
    var lab = TURNLab.allocated()
    for byte: UInt8 in 1...5 { lab.send([byte]) }
    #expect(!lab.client.hasChannel(to: TURNLab.peer))
    lab.run(for: .milliseconds(20))
    #expect(lab.client.hasChannel(to: TURNLab.peer))
    lab.run(for: .milliseconds(20))
    #expect(lab.server.delivered.map(\.payload) == [[1], [2], [3], [4], [5]])
    #expect(lab.server.delivered.allSatisfy { $0.byChannel })
    #expect(lab.server.requests == [.allocate: 2, .channelBind: 1] && lab.server.complaints.isEmpty)
  }

  @Test func whatWaitsIsLimited() {
    var lab = TURNLab.allocated()
    for byte: UInt8 in 0..<100 { lab.send([byte]) }
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.map(\.payload) == (0..<16).map { [$0] } && lab.client.droppedCount == 84)
  }

  @Test func aPermittedPeerSendsFirstAndIsAnsweredAtOnce() {
    var lab = TURNLab.allocated()
    lab.client.permit(TURNLab.peer, now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.server.requests == [.allocate: 2, .createPermission: 1])
    // From another port of the same address: a NAT has changed it.
    let moved = TransportAddress(ip: TURNLab.peer.ip, port: 6001)
    lab.peerSends([1], from: moved)
    lab.run(for: .milliseconds(10))
    #expect(lab.received.map(\.from) == [moved])
    lab.send([2], to: moved)
    lab.run(for: .milliseconds(10))
    #expect(lab.server.delivered.map(\.to) == [moved] && lab.server.delivered.allSatisfy { !$0.byChannel })
  }

  @Test func beforeTheAllocationPermissionsAreRemembered() {
    var lab = TURNLab()
    lab.client.permit(address(1), now: lab.now)
    lab.client.allocate(now: lab.now)
    lab.client.permit(address(2), now: lab.now)
    lab.client.permit(address(2, port: 7), now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.server.permissions.keys.count == 2 && lab.server.requests[.createPermission] == 2)
    #expect(lab.client.peersInUse == [address(1), address(2)])
  }

  /// 1280 bytes with the headers of IPv6 and UDP.
  @Test func aLongDatagramWaitsForItsChannel() {
    var lab = TURNLab.allocated()
    lab.client.permit(TURNLab.peer, now: lab.now)
    lab.run(for: .seconds(1))
    for count in [100, 1184, 1185, 1200] { lab.send(Array(repeating: 7, count: count)) }
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.map(\.payload.count) == [100, 1184, 1185, 1200])
    #expect(lab.server.delivered.map(\.byChannel) == [false, false, true, true])
    #expect(lab.server.largest <= 1280 - 48)
  }

  /// Six hours of sound to two peers that share an address, a third that only listens, and a fourth that comes back
  /// each hour.
  @Test func permissionsAndChannelsOfTheRightPeersLast() {
    var lab = TURNLab.allocated()
    let (one, two, listener, guest) = (address(1), address(1, port: 6001), address(2), address(3))
    var expected = 0
    for second in 0..<(6 * 3600) {
      for peer in [one, two, listener] { lab.send([1], to: peer) }
      if second % 3600 < 10 { lab.send([2], to: guest) }
      lab.run(for: .seconds(1))
      for peer in [one, two] { lab.peerSends([3], from: peer) }
      expected += 2
    }
    lab.run(for: .seconds(1))
    #expect(lab.server.complaints.isEmpty && lab.client.droppedCount == 0 && lab.end == nil)
    #expect(lab.received.count == expected)
    #expect(lab.server.delivered.count == 3 * 6 * 3600 + 60)
    // Nobody is refreshed who is gone: each needs a ChannelBind in 230 s, the guest for its ten minutes.
    #expect(lab.server.requests[.channelBind, default: 0] < 3 * 6 * 16 + 6 * 5)
    #expect(lab.server.requests[.createPermission] == nil)
  }

  /// Three peers, permitted at different times: each refresh is for the one whose turn it is.
  @Test func permissionsWithoutChannelsLastWhileTheyAreUsed() {
    var configuration = TURNLab.configuration()
    // No channel is tried again: that would ask for permissions, too.
    configuration.refusalPause = .seconds(100_000)
    var lab = TURNLab.allocated(configuration)
    lab.server.refusals[.channelBind] = 508
    var expected = 0
    for second in 0..<7200 {
      for number: UInt32 in 1...3 where second >= number * 40 {
        lab.send([1], to: address(number))
        expected += 1
      }
      lab.run(for: .seconds(1))
    }
    #expect(lab.server.complaints.isEmpty && lab.server.delivered.count == expected)
    #expect(lab.server.delivered.allSatisfy { !$0.byChannel } && lab.refused.isEmpty)
    // Ten minutes after they were last used nobody asks any more.
    lab.run(for: .seconds(900))
    let before = lab.server.requests[.createPermission]
    lab.run(for: .seconds(3600))
    #expect(lab.server.requests[.createPermission] == before)
  }

  /// Every third request is lost, and the network for a minute each ten.
  @Test func lostRefreshesAreMadeUpFor() {
    var lab = TURNLab.allocated()
    lab.send([1])
    lab.run(for: .seconds(1))
    var count = 0
    lab.isLost = { bytes, now in
      guard bytes[0] >> 6 == 0 else { return false }
      count += 1
      return count % 3 == 0 || now.nanoseconds / 1_000_000_000 % 600 < 60
    }
    for _ in 0..<(4 * 3600) {
      lab.send([1])
      lab.run(for: .seconds(1))
    }
    #expect(lab.server.complaints.isEmpty && lab.server.delivered.count == 4 * 3600 + 1)
  }

  @Test func aForbiddenPeerIsToldAndOthersGoOn() {
    var lab = TURNLab.allocated()
    lab.server.forbidden = [address(9).ip]
    lab.client.permit(address(9), now: lab.now)
    lab.send([1], to: address(9, port: 5))
    lab.send([1], to: address(8))
    lab.run(for: .seconds(1))
    #expect(Set(lab.refused.map(\.peer)) == [address(9), address(9, port: 5)])
    #expect(lab.refused.allSatisfy { $0.code == 403 })
    #expect(lab.server.delivered.map(\.to) == [address(8)] && lab.client.peersInUse == [address(8)])
    // It is not asked for with each datagram.
    let requests = lab.server.requests
    for _ in 0..<50 {
      lab.send([1], to: address(9))
      lab.run(for: .seconds(1))
    }
    #expect(lab.server.requests == requests)
    // The server's rules have changed.
    lab.server.forbidden = []
    lab.run(for: .seconds(15))
    lab.send([2], to: address(9, port: 5))
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.last?.payload == [2])
  }

  @Test func channelsAreNotGivenToOthersBeforeTheServerHasForgottenThem() {
    var configuration = TURNLab.configuration()
    configuration.maximumPeers = 4
    var lab = TURNLab.allocated(configuration)
    for round in 0..<200 {
      lab.send([1], to: address(UInt32(round % 12)))
      lab.run(for: .seconds(7))
    }
    #expect(lab.server.complaints.isEmpty && lab.server.delivered.count == 200)
    #expect(lab.client.peersInUse.count <= 8)
  }

  @Test func thousandsOfPeersNeedNoMoreThanTheirPlaces() {
    var lab = TURNLab.allocated()
    for round in 0..<6000 {
      lab.send([1], to: TransportAddress(ip: .v4(0x0800_0000 | UInt32(round)), port: 1))
      lab.run(for: .milliseconds(50))
    }
    #expect(lab.client.peersInUse.count <= 256 && lab.server.delivered.count == 6000 && lab.server.complaints.isEmpty)
  }
}
