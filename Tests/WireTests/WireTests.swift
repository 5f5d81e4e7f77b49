import TestSupport
import Testing
import Wire

@Suite struct ByteReaderTests {
  @Test func readsBigEndianFieldsInOrder() throws {
    var reader = ByteReader([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    #expect(try reader.readUInt8() == 1)
    #expect(try reader.readUInt16() == 0x0203)
    #expect(try reader.readUInt24() == 0x040506)
    #expect(try reader.readUInt32() == 0x0708_090a)
    #expect(reader.isAtEnd)
    #expect(reader.offset == 10)
  }

  @Test func whatIsNotThereIsAnErrorAndMovesNothing() {
    var reader = ByteReader([1])
    #expect(throws: WireError.truncated) { try reader.readUInt16() }
    #expect(throws: WireError.truncated) { try reader.readBytes(-1) }
    #expect(throws: WireError.truncated) { try reader.readBytes(.max) }
    #expect(reader.remaining == 1)
  }

  @Test func readsASliceByItsOwnIndices() throws {
    var reader = ByteReader([0, 0, 0xaa, 0xbb][2...])
    #expect(try reader.readUInt16() == 0xaabb)
  }
}

@Suite struct ByteWriterTests {
  @Test func writesWhatTheReaderReads() throws {
    var writer = ByteWriter()
    writer.write(UInt8(1))
    writer.write(UInt16(2))
    writer.write24(3)
    writer.write(UInt64(4))
    writer.pad(to: 4)
    writer.patch(UInt16(9), at: 1)
    var reader = ByteReader(writer.bytes)
    #expect(writer.count == 16)
    #expect(try reader.readUInt8() == 1)
    #expect(try reader.readUInt16() == 9)
    #expect(try reader.readUInt24() == 3)
    #expect(try reader.readUInt64() == 4)
  }
}

@Suite struct SerialNumberTests {
  @Test func comparesAcrossTheWrap() {
    #expect(UInt16(2).isAfter(serial: 65534))
    #expect(!UInt16(65534).isAfter(serial: 2))
    #expect(!UInt16(7).isAfter(serial: 7))
    #expect(!UInt16(0x8000).isAfter(serial: 0))
    #expect(UInt32(0).isAtOrAfter(serial: .max))
  }

  @Test func unwrapsForwardsBackwardsAndOverManyTurns() {
    var unwrapper = SerialUnwrapper<UInt16>()
    #expect(unwrapper.unwrap(65530) == 65530)
    #expect(unwrapper.unwrap(4) == 65540)
    #expect(unwrapper.unwrap(65535) == 65535)
    for turn in 1...40_000 { _ = unwrapper.unwrap(UInt16(truncatingIfNeeded: turn * 1000)) }
    #expect(unwrapper.unwrap(UInt16(truncatingIfNeeded: 40_000_001)) % 65536 == 40_000_001 % 65536)
  }
}

@Suite struct InstantTests {
  @Test func saturatesInsteadOfOverflowing() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant.zero + .milliseconds(5) - Instant.zero == .milliseconds(5))
    #expect(Instant.zero - .seconds(1) < .zero)
    #expect((Instant.zero + .seconds(Int64.max)) == .distantFuture)
  }

  @Test func givesNTPTimeOfTheWallClock() {
    let reference = WallClockReference(instant: .zero, unixNanoseconds: 1_500_000_000)
    let ntp = reference.ntpTime(at: .zero + .milliseconds(250))
    #expect(ntp >> 32 == 2_208_988_801)
    #expect(ntp & 0xffff_ffff == 0xc000_0000)
  }
}

@Suite struct IPAddressTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::", "::"), ("::1", "::1"), ("2001:DB8::1", "2001:db8::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("::ffff:192.0.2.7", "192.0.2.7"), ("fe80::", "fe80::"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
  ])
  func readsAndWritesCanonicalText(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(bytes: address.bytes) == address)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.256", "1.2.3.4.5", "+1.2.3.4", ":::", "1::2::3", "12345::", "::1%eth0", "1:2:3:4:5:6:7:8:9",
    "g::",
    "1.2.3.4:80", "::-1",
  ])
  func refusesWhatIsNoAddress(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func knowsSpecialRanges() throws {
    #expect(try #require(IPAddress("127.8.0.1")).isLoopback)
    #expect(try #require(IPAddress("febf::1")).isLinkLocal)
    #expect(try #require(IPAddress("169.254.3.4")).isLinkLocal)
    #expect(!(try #require(IPAddress("fec0::1")).isLinkLocal))
    #expect(TransportAddress(ip: .v6(0, 1), port: 5).description == "[::1]:5")
  }
}

@Suite struct ChecksumTests {
  /// The check values of the catalogue of CRC algorithms for "123456789".
  @Test func checksumsOfTheStandardInput() {
    let input = Array("123456789".utf8)
    #expect(CRC32.checksum(input) == 0xcbf4_3926)
    #expect(CRC32C.checksum(input) == 0xe306_9283)
  }

  @Test func comparesInConstantTimeByContent() {
    #expect(constantTimeEqual([1, 2], [1, 2]))
    #expect(!constantTimeEqual([1, 2], [1, 3]))
    #expect(!constantTimeEqual([1, 2], [1, 2, 3]))
  }
}

@Suite struct SaturatingTests {
  @Test(arguments: [
    (0, 0), (1.9, 1), (-1.9, -1), (127.5, 127), (128, 127), (-129, -128), (1e300, 127), (-.infinity, -128), (.nan, 0),
  ])
  func numbersOutOfRangeBecomeTheNearestBound(number: Double, expected: Int8) {
    #expect(Int8(saturating: number) == expected)
  }

  @Test func boundsOf64BitsHold() {
    #expect(Int(saturating: 9.3e18) == .max && Int(saturating: -9.3e18) == .min)
    #expect(UInt64(saturating: -0.5) == 0 && UInt64(saturating: 1.9e19) == .max)
  }

  @Test func durationsSaturate() {
    #expect(Duration.seconds(saturating: 1.5) == .milliseconds(1500))
    #expect(Duration.seconds(saturating: .nan) == .zero)
    #expect(Duration.seconds(saturating: 1e300).nanoseconds == .max)
    #expect(Duration.seconds(saturating: -.infinity).nanoseconds == .min)
  }
}
