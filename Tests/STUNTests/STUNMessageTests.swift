import STUN
import TestSupport
import Testing
import Wire

@Suite struct STUNMessageTests {
  let hashes = TestHashes()
  let id = STUNTransactionID(bytes: Array(1...12))!

  @Test func everyAttributeComesBackAsWritten() throws {
    let v4 = TransportAddress(ip: .v4(0xc000_0201), port: 4321)
    let v6 = TransportAddress(ip: try #require(IPAddress("2001:db8::9")), port: 65535)
    let attributes: [STUNAttribute] = [
      .mappedAddress(v4), .mappedAddress(v6), .xorMappedAddress(v4), .xorMappedAddress(v6), .username("a:b"),
      .errorCode(code: 487, reason: "Role Conflict"), .unknownAttributes([.priority, .nonce, .realm]),
      .realm("home"), .nonce([1, 2, 3]), .software("Cradle"), .priority(7), .useCandidate,
      .iceControlled(.max), .iceControlling(1), .raw(STUNAttributeType(rawValue: 0xc057), [9]),
    ]
    let written = STUNMessage(.errorResponse, transactionID: id, attributes: attributes)
      .encode(key: [1], hashes: hashes)
    #expect(STUNMessage.isSTUN(written))
    let read = try STUNMessage(decoding: written)
    #expect(read.attributes == attributes)
    #expect(read.errorCode == 487 && read.usesCandidate && read.priority == 7 && read.mappedAddress == v4)
    #expect(read.verifyIntegrity(key: [1], hashes: hashes) && read.hasValidFingerprint == true)
  }

  @Test(arguments: [STUNClass.request, .indication, .successResponse, .errorResponse])
  func classAndMethodInterleave(messageClass: STUNClass) throws {
    for method: UInt16 in [1, 3, 0x7f, 0x80, 0xabc, 0xfff] {
      let message = STUNMessage(messageClass, STUNMethod(rawValue: method), transactionID: id)
      let read = try STUNMessage(decoding: message.encode(hashes: hashes))
      #expect(read.messageClass == messageClass && read.method.rawValue == method)
    }
  }

  @Test func noBitCanChangeUnnoticed() throws {
    let written = STUNMessage(.request, transactionID: id, attributes: [.username("abcd:efgh"), .priority(1)])
      .encode(key: [1, 2], hashes: hashes)
    for byte in written.indices {
      var changed = written
      changed[byte] ^= 4
      guard let read = try? STUNMessage(decoding: changed) else { continue }
      #expect(!(read.verifyIntegrity(key: [1, 2], hashes: hashes) && read.hasValidFingerprint == true))
    }
  }

  @Test func whatFollowsIntegrityIsNotBelieved() throws {
    var bytes = STUNMessage(.request, transactionID: id, attributes: [.priority(1)])
      .encode(key: [1], fingerprint: false, hashes: hashes)
    bytes += [0, 0x25, 0, 0]
    bytes[3] += 4
    let read = try STUNMessage(decoding: bytes)
    #expect(read.verifyIntegrity(key: [1], hashes: hashes))
    #expect(!read.usesCandidate)
  }

  @Test func refusesTooManyAttributes() {
    let few = STUNMessage(.request, transactionID: id, attributes: Array(repeating: .useCandidate, count: 32))
    let many = STUNMessage(.request, transactionID: id, attributes: Array(repeating: .useCandidate, count: 33))
    #expect(throws: Never.self) { try STUNMessage(decoding: few.encode(fingerprint: false, hashes: hashes)) }
    #expect(throws: WireError.self) { try STUNMessage(decoding: many.encode(fingerprint: false, hashes: hashes)) }
  }

  @Test func refusesTruncationAnywhere() {
    let written = STUNMessage(.request, transactionID: id, attributes: [.username("abc:def"), .priority(1)])
      .encode(key: [1], hashes: hashes)
    for count in written.indices {
      #expect(throws: WireError.self) { try STUNMessage(decoding: Array(written[..<count])) }
    }
  }

  @Test func tellsSTUNFromItsNeighbours() {
    let written = STUNMessage(.request, transactionID: id).encode(hashes: hashes)
    #expect(STUNMessage.isSTUN(written))
    #expect(STUNMessage.isSTUN(([0xff] + written).dropFirst()))
    #expect(!STUNMessage.isSTUN([UInt8]()))
    #expect(!STUNMessage.isSTUN(written.prefix(19)))
    // DTLS and RTP begin with 20...63 and 128...191 (RFC 7983).
    #expect(!STUNMessage.isSTUN([22, 0xfe, 0xfd] + Array(repeating: 0, count: 40)))
    #expect(!STUNMessage.isSTUN([0x80, 96] + Array(repeating: 0, count: 40)))
  }

  @Test func anUnknownRequiredAttributeIsNamedIn420() throws {
    let strange = STUNAttributeType(rawValue: 0x7001)
    let optional = STUNAttributeType(rawValue: 0xc0ff)
    let request = try STUNMessage(
      decoding: STUNMessage(.request, transactionID: id, attributes: [.raw(optional, []), .raw(strange, [1])])
        .encode(hashes: hashes))
    let unknown = request.unknownComprehensionRequired()
    #expect(unknown == [strange])
    let response = request.errorResponse(code: 420, reason: "Unknown Attribute", unknownAttributes: unknown)
    #expect(response.transactionID == id && response.attributes.last == .unknownAttributes([strange]))
  }
}
