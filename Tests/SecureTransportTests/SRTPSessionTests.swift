import PeerConnection
import TestSupport
import Testing

@testable import SecureTransport

@Suite struct SRTPSessionTests {
  private static func pair(_ profile: SRTPProfile) throws -> (SRTPSession, SRTPSession) {
    let count = profile.keyLength + profile.saltLength
    let (one, two) = ((0..<count).map { UInt8($0) }, (0..<count).map { UInt8(100 + $0) })
    return (
      try SRTPSession(keys: SRTPKeys(profile: profile, local: one, remote: two)),
      try SRTPSession(keys: SRTPKeys(profile: profile, local: two, remote: one))
    )
  }

  private static func packet(sequence: UInt16, source: UInt32 = 0x1234_5678, payload: Int = 100) -> [UInt8] {
    [0x80, 96, UInt8(sequence >> 8), UInt8(sequence & 255), 0, 0, 0, 1]
      + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: source >> $0) }
      + (0..<payload).map { UInt8(truncatingIfNeeded: $0) }
  }

  /// A receiver report without blocks.
  private static let report: [UInt8] = [0x80, 201, 0, 1, 0x12, 0x34, 0x56, 0x78]

  @Test(arguments: SRTPProfile.allCases)
  func rtpComesThroughBothWays(profile: SRTPProfile) throws {
    let (left, right) = try Self.pair(profile)
    for (sender, receiver) in [(left, right), (right, left)] {
      for sequence in [UInt16(65534), 65535, 0, 1] {
        let clear = Self.packet(sequence: sequence)
        var packet = clear
        try sender.protectRTP(&packet)
        #expect(packet.count == clear.count + (profile == .aeadAES128GCM ? 16 : 10))
        #expect(packet[..<12] == clear[..<12])
        #expect(packet[12...] != clear[12...])
        try receiver.unprotectRTP(&packet)
        #expect(packet == clear)
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func rtcpComesThrough(profile: SRTPProfile) throws {
    let (left, right) = try Self.pair(profile)
    for _ in 0..<3 {
      var packet = Self.report
      try left.protectRTCP(&packet)
      #expect(packet.count > Self.report.count)
      try right.unprotectRTCP(&packet)
      #expect(packet == Self.report)
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func replayIsRefused(profile: SRTPProfile) throws {
    let (left, right) = try Self.pair(profile)
    var packet = Self.packet(sequence: 1)
    try left.protectRTP(&packet)
    var again = packet
    try right.unprotectRTP(&packet)
    #expect(throws: SRTPError.replayed) { try right.unprotectRTP(&again) }
    var report = Self.report
    try left.protectRTCP(&report)
    var reportAgain = report
    try right.unprotectRTCP(&report)
    #expect(throws: SRTPError.replayed) { try right.unprotectRTCP(&reportAgain) }
  }

  @Test(arguments: SRTPProfile.allCases)
  func anyChangedByteIsRefused(profile: SRTPProfile) throws {
    let (left, right) = try Self.pair(profile)
    var packet = Self.packet(sequence: 1, payload: 20)
    try left.protectRTP(&packet)
    for position in packet.indices {
      var changed = packet
      changed[position] ^= 0x04
      let before = changed.count
      #expect(throws: SRTPError.self) { try right.unprotectRTP(&changed) }
      #expect(changed.count == before)
    }
    try right.unprotectRTP(&packet)
  }

  @Test(arguments: SRTPProfile.allCases)
  func theSamePacketMayBeSentAgain(profile: SRTPProfile) throws {
    let (left, right) = try Self.pair(profile)
    var first = Self.packet(sequence: 5)
    try left.protectRTP(&first)
    for sequence in UInt16(6)..<900 {
      var next = Self.packet(sequence: sequence)
      try left.protectRTP(&next)
      try right.unprotectRTP(&next)
    }
    var second = Self.packet(sequence: 5)
    try left.protectRTP(&second)
    #expect(second == first)
    try right.unprotectRTP(&second)
    #expect(second == Self.packet(sequence: 5))
  }

  @Test func shortAndHugePacketsAreMalformed() throws {
    let (left, _) = try Self.pair(.aeadAES128GCM)
    for count in [0, 1, 7, 11, 65536] {
      var packet = [UInt8](repeating: 0x80, count: count)
      #expect(throws: SRTPError.malformed) { try left.protectRTP(&packet) }
      #expect(packet.count == count)
    }
    for count in 0...40 {
      var packet = [UInt8](repeating: 0x80, count: count)
      #expect(throws: SRTPError.self) { try left.unprotectRTP(&packet) }
      packet = [UInt8](repeating: 0x80, count: count)
      #expect(throws: SRTPError.self) { try left.unprotectRTCP(&packet) }
    }
  }

  @Test func keysOfWrongLengthAreRefused() {
    let keys = SRTPKeys(profile: .aeadAES128GCM, local: [1], remote: [2])
    #expect(throws: SRTPError.malformed) { _ = try SRTPSession(keys: keys) }
  }

  @Test func sourcesOfOnePeerAreBounded() throws {
    let (left, right) = try Self.pair(.aeadAES128GCM)
    for source in 0..<UInt32(SRTPSession.maximumRemoteSources) {
      var packet = Self.packet(sequence: 1, source: source)
      try left.protectRTP(&packet)
      try right.unprotectRTP(&packet)
    }
    var extra = Self.packet(sequence: 1, source: 0xffff)
    try left.protectRTP(&extra)
    #expect(throws: SRTPError.self) { try right.unprotectRTP(&extra) }
    var known = Self.packet(sequence: 2, source: 3)
    try left.protectRTP(&known)
    try right.unprotectRTP(&known)
  }

  @Test func keysFromAHandshakeCarryMedia() throws {
    let transports = OpenSSLTransports.test()
    let dtls = try DTLSPair(client: transports)
    dtls.connect()
    let sender = try transports.makeSRTP(keys: try #require(dtls.client.keys))
    let receiver = try transports.makeSRTP(keys: try #require(dtls.server.keys))
    var packet = Self.packet(sequence: 9)
    try sender.protectRTP(&packet)
    try receiver.unprotectRTP(&packet)
    #expect(packet == Self.packet(sequence: 9))
  }
}
