import STUN
import TURN
import TestSupport
import Testing
import Wire

/// The exchange of RFC 8656 section 20, as far as our client does the same.
@Suite struct TURNExampleTests {
  private let peerA = TransportAddress(ip: .v4(0xc000_0296), port: 32_102)
  private let peerB = TransportAddress(ip: .v4(0xc000_02d2), port: 49_191)

  /// The value of an attribute of the last message sent.
  private func value(_ type: UInt16, in bytes: [UInt8]) throws -> [UInt8] {
    var reader = ByteReader(bytes[20...])
    while !reader.isAtEnd {
      let found = try reader.readUInt16()
      let length = Int(try reader.readUInt16())
      let value = Array(try reader.readBytes(length))
      try reader.skip((4 - length % 4) % 4)
      if found == type { return value }
    }
    return []
  }

  @Test func passesAsInTheRFC() throws {
    var lab = TURNLab(
      TURNLab.configuration(credentials: TURNCredentials(username: "George", password: "secret")))
    lab.server.realm = "example.com"
    lab.server.users = ["George": "secret"]
    lab.server.lifetime = .seconds(1200)
    // Allocate, without and with credentials.
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    let first = try STUNMessage(decoding: lab.sent[0])
    #expect(lab.sent[0].prefix(2) == [0, 3] && first.attributes == [.requestedTransport(17)])
    #expect(try value(0x0019, in: lab.sent[0]) == [17, 0, 0, 0])
    let second = try STUNMessage(decoding: lab.sent[1])
    #expect(second.username == "George" && second.realm == "example.com" && second.nonce != nil)
    #expect(second.transactionID != first.transactionID && second.integrity == .messageIntegrity)
    #expect(lab.relayed?.description == "192.0.2.15:50000" && lab.mapped?.description == "192.0.2.1:7000")
    // CreatePermission for peer A, whatever its port; a Send indication and its answer.
    lab.client.permit(peerA, now: lab.now)
    lab.run(for: .seconds(1))
    let permission = try #require(lab.sent.last)
    #expect(permission.prefix(2) == [0, 8])
    #expect(try STUNMessage(decoding: permission).peerAddress == TransportAddress(ip: peerA.ip, port: 0))
    lab.send(Array("data".utf8), to: peerA)
    let indication = try #require(lab.sent.last)
    #expect(indication.prefix(2) == [0, 0x16] && indication.count == 20 + 12 + 8)
    // XOR-PEER-ADDRESS: port and address under the magic cookie.
    let port = UInt16(32_102) ^ 0x2112
    let expected: [UInt8] = [
      0, 1, UInt8(port >> 8), UInt8(port & 255), 0xc0 ^ 0x21, 0x00 ^ 0x12, 0x02 ^ 0xa4, 0x96 ^ 0x42,
    ]
    #expect(try value(0x0012, in: indication) == expected && value(0x0013, in: indication) == Array("data".utf8))
    lab.peerSends([1, 2], from: peerA)
    lab.run(for: .milliseconds(15))
    #expect(lab.received.map(\.from) == [peerA])
    // Binding a channel to peer B. Peer A has the first number already.
    lab.run(for: .seconds(1))
    lab.send([3], to: peerB)
    let bind = try #require(lab.sent.last)
    #expect(bind.prefix(2) == [0, 9])
    #expect(try value(0x000c, in: bind) == [0x40, 0x01, 0, 0])
    lab.run(for: .seconds(1))
    lab.send([1, 2, 3], to: peerB)
    #expect(lab.sent.last == [0x40, 0x01, 0, 3, 1, 2, 3])
    lab.peerSends([4, 5], from: peerB)
    lab.run(for: .seconds(1))
    #expect(lab.received.last?.payload == [4, 5] && lab.received.last?.from == peerB)
    // Refresh, at first with a nonce that has become stale.
    lab.server.forgetNonce()
    lab.run(for: .seconds(598))
    #expect(lab.server.staleNonces >= 1 && lab.server.isAllocated(at: .zero + .seconds(1201)) && lab.end == nil)
  }
}
