import Testing
import Wire

@testable import Server

/// Messages of a Linux kernel, recorded on a little-endian machine; the links' are cut after their names.
@Suite struct InterfaceTableTests {
  private static let wlan =
    "2c00000010000200070000000000000000000100030000004310010000000000" + "0a000300776c616e30000000"
  private static let wlanWithoutCarrier =
    "2c00000010000000000000000000000000000100030000000310000000000000" + "0a000300776c616e30000000"
  private static let wlanGone =
    "2c00000011000000000000000000000000000100030000000310000000000000" + "0a000300776c616e30000000"
  private static let address =
    "5000000014000200070000000e2028df021880000300000008000100c0a8010708000200c0a80107"
    + "0a000300776c616e30000000080008008000000014000600ffffffffffffffffe9150800e9150800"
  private static let addressGone =
    "5000000015000000d1b7046bcc0c0000021880000300000008000100c0a8010708000200c0a80107"
    + "0a000300776c616e30000000080008008000000014000600ffffffffffffffffe9150800e9150800"
  private static let address6 =
    "480000001400020007000000e2028df20a408200030000001400010020010db8000100000000000000000007"
    + "14000600ffffffffffffffffe91508000e150800" + "0800080082000000"

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
      let start = hex.index(hex.startIndex, offsetBy: offset)
      return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
    }
  }

  private static func table(_ messages: [String]) -> InterfaceTable {
    var table = InterfaceTable()
    for message in messages { for change in RouteMessages.changes(in: bytes(message)) { table.apply(change) } }
    return table
  }

  private static func local(_ text: String, isRunning: Bool = true, isOffered: Bool = true) -> LocalAddress {
    LocalAddress(ip: IPAddress(text)!, isRunning: isRunning, isOffered: isOffered)
  }

  @Test func recordedMessagesGiveTheAddresses() {
    let both = [Self.local("192.168.1.7"), Self.local("2001:db8:1::7")]
    #expect(Self.table([Self.wlan, Self.address6, Self.address]).local == both, "IPv4 goes first")
    #expect(Self.table([Self.wlan + Self.address + Self.address6]).local == both, "in one datagram")
    #expect(Self.table([Self.wlan, Self.address, Self.addressGone]).local.isEmpty)
    #expect(Self.table([Self.wlan, Self.address, Self.wlanGone]).local.isEmpty)
    let silent = Self.table([Self.wlan, Self.address, Self.wlanWithoutCarrier])
    #expect(silent.local == [Self.local("192.168.1.7", isRunning: false, isOffered: false)])
    var mended = silent
    for change in RouteMessages.changes(in: Self.bytes(Self.wlan)) { mended.apply(change) }
    #expect(mended.local == [Self.local("192.168.1.7")])
  }

  /// The kernel is trusted, the length of what was read is not.
  @Test func cutAndChangedMessagesAreReadWithinTheirBounds() {
    let whole = Self.bytes(Self.wlan + Self.address + Self.address6 + Self.addressGone)
    for count in 0..<whole.count { _ = RouteMessages.changes(in: Array(whole.prefix(count))) }
    #expect(RouteMessages.changes(in: Array(whole.prefix(43))).isEmpty)
    for index in whole.indices {
      for value: UInt8 in [0, 1, 3, 0x7f, 0xff] {
        var changed = whole
        changed[index] = value
        #expect(RouteMessages.changes(in: changed).count <= whole.count / 16)
      }
    }
  }

  /// IFA_F_… of linux/if_addr.h.
  private enum Flag {
    static let temporary: UInt32 = 0x01
    static let optimistic: UInt32 = 0x04
    static let failed: UInt32 = 0x08
    static let deprecated: UInt32 = 0x20
    static let tentative: UInt32 = 0x40
    static let permanent: UInt32 = 0x80
    static let stablePrivacy: UInt32 = 0x800
  }

  private static func offered(_ addresses: [(String, UInt32)], index: Int32 = 3) -> [String] {
    var table = InterfaceTable()
    table.apply(.link(.init(isRunning: true), index: 3))
    for (text, flags) in addresses {
      table.apply(.address(.init(ip: IPAddress(text)!, index: index, prefixLength: 64, flags: flags)))
    }
    return table.local.filter(\.isOffered).map { "\($0.ip)" }
  }

  @Test func addressesThatCannotBeUsedYetOrNoLongerAreNotOffered() {
    #expect(Self.offered([("2001:db8::1", Flag.tentative)]).isEmpty)
    #expect(Self.offered([("2001:db8::1", Flag.tentative | Flag.optimistic)]) == ["2001:db8::1"])
    #expect(Self.offered([("2001:db8::1", Flag.permanent | Flag.failed)]).isEmpty)
    #expect(Self.offered([("2001:db8::1", Flag.deprecated), ("2001:db8::2", 0)]) == ["2001:db8::2"])
    #expect(Self.offered([("fe80::1", 0), ("fec0::1", 0), ("::192.0.2.1", 0)]).isEmpty)
    #expect(Self.offered([("192.168.1.7", 0)], index: 4).isEmpty, "of an interface that is not known")
  }

  /// RFC 3927: two machines on one cable have no others. Where there are others, those come first.
  @Test func addressesOfANetworkWithoutARouterAreOfferedLast() {
    #expect(Self.offered([("fe80::1", 0), ("169.254.3.3", 0)]) == ["169.254.3.3"])
    #expect(
      Self.offered([("169.254.3.3", 0), ("2001:db8::1", 0), ("192.168.1.7", 0)])
        == ["192.168.1.7", "2001:db8::1", "169.254.3.3"])
    #expect(Self.offered([("169.254.3.3", 0)], index: 4).isEmpty, "of an interface without a carrier")
  }

  /// What uses a deprecated address goes on with it.
  @Test func aDeprecatedAddressIsStillThere() {
    var table = InterfaceTable()
    table.apply(.link(.init(isRunning: true), index: 1))
    table.apply(
      .address(.init(ip: IPAddress("2001:db8::1")!, index: 1, prefixLength: 64, flags: Flag.deprecated)))
    #expect(table.local == [Self.local("2001:db8::1", isOffered: false)])
  }

  /// RFC 8445 section 5.1.1.1.
  @Test func ofOnePrefixOnlyAddressesThatHideThePlaceAreOffered() {
    #expect(
      Self.offered([
        ("2001:db8::aaaa:bbff:fecc:dddd", 0), ("2001:db8::1234", Flag.temporary), ("2001:db8:0:1::5", 0),
      ]) == ["2001:db8::1234", "2001:db8:0:1::5"])
    #expect(
      Self.offered([("2001:db8::7", Flag.stablePrivacy), ("2001:db8::1234", Flag.temporary)]).count == 2)
    // The temporary one is old, so the other has to do.
    #expect(
      Self.offered([("2001:db8::7", 0), ("2001:db8::1234", Flag.temporary | Flag.deprecated)]) == ["2001:db8::7"])
  }

  /// For IPv4 the same bit means a second address of a network: linux/if_addr.h, IFA_F_SECONDARY.
  @Test func secondIPv4AddressesHideNothing() {
    #expect(Self.offered([("192.168.1.7", 0), ("192.168.1.8", Flag.temporary)]).count == 2)
  }

  @Test func theTableIsBounded() {
    var table = InterfaceTable()
    table.apply(.link(.init(isRunning: true), index: 1))
    for number in 0..<UInt32(InterfaceTable.maximumAddresses + 100) {
      table.apply(.address(.init(ip: .v4(0x0a00_0001 + number), index: 1, prefixLength: 8, flags: 0)))
    }
    #expect(table.local.count == InterfaceTable.maximumAddresses)
  }
}
