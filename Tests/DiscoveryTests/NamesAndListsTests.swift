import Testing
import Wire

@testable import Discovery

@Suite struct NamesAndListsTests {
  @Test func aNameIsCutBetweenCharacters() {
    #expect(ServiceNames.fitting("Nursery") == "Nursery")
    #expect(ServiceNames.fitting("") == "Cradle")
    #expect(ServiceNames.fitting("\n\u{7}") == "Cradle")
    #expect(ServiceNames.fitting("a\u{1b}b") == "ab")
    #expect(ServiceNames.fitting(String(repeating: "x", count: 100)).utf8.count == 63)
    #expect(ServiceNames.fitting(String(repeating: "ä", count: 40)) == String(repeating: "ä", count: 31))
    #expect(ServiceNames.fitting("a" + String(repeating: "👨‍👩‍👧", count: 9)).utf8.count == 55)
  }

  @Test func namesThatSpeakToATerminalAreNoNames() {
    #expect(ServiceNames.isInstance("Kinderzimmer 👶"))
    for name in ["", "a\u{1b}[2J", "a\nb", "a\u{202e}b", "a\u{fffd}", String(repeating: "x", count: 64)] {
      #expect(!ServiceNames.isInstance(name))
    }
    #expect(ServiceNames.host("nursery.local.") == "nursery.local")
    #expect(ServiceNames.host(".") == nil)
    #expect(ServiceNames.host("a\u{7}.local.") == nil)
  }

  @Test func onlyNamesThatHideAnAddressAreLookedUp() {
    #expect(HostResolver.isHiddenAddress("2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.local"))
    #expect(HostResolver.isHiddenAddress("2B9AE35F-53D1-4B4D-8E4C-4BB4FCD2A0C1.Local"))
    for name in [
      "", ".local", "nursery.local", "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1",
      "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.local.",
      "2b9ae35f053d1-4b4d-8e4c-4bb4fcd2a0c1.local", "2b9ae35g-53d1-4b4d-8e4c-4bb4fcd2a0c1.local",
      "x2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.local", "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.lokal",
      "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0\u{e9}.local",
    ] {
      #expect(!HostResolver.isHiddenAddress(name), "\(name)")
    }
  }

  @Test func aNameIsThereUntilEveryInterfaceHasLostIt() {
    var sightings = Sightings()
    sightings.found("A")
    sightings.found("A")
    sightings.found("B")
    #expect(sightings.names == ["A", "B"])
    sightings.lost("A")
    #expect(sightings.names == ["A", "B"])
    sightings.lost("A")
    sightings.lost("A")
    #expect(sightings.names == ["B"])
  }

  @Test func sightingsAreBounded() {
    var sightings = Sightings()
    for number in 0..<1000 { sightings.found("\(number)") }
    #expect(sightings.names.count == Sightings.maximumNames)
    for number in 0..<1000 { sightings.lost("\(number)") }
    #expect(sightings.names.isEmpty)
  }

  private func address(_ text: String, zone: String? = nil) throws -> FoundAddress {
    FoundAddress(ip: try #require(IPAddress(text)), zone: zone)
  }

  @Test func addressesComeBestFirstAndOnlyUsableOnes() throws {
    var list = AddressList()
    for text in ["127.0.0.1", "fd00::2", "169.254.1.1", "192.168.1.2", "0.0.0.0", "::", "224.0.0.251", "ff02::fb"] {
      list.note(try address(text), isThere: true)
    }
    list.note(try address("fe80::1"), isThere: true)
    list.note(try address("fe80::1", zone: "eth0"), isThere: true)
    #expect(list.texts == ["192.168.1.2", "fd00::2", "fe80::1%eth0", "169.254.1.1", "127.0.0.1"])
    #expect(list.hasBothVersions)
  }

  @Test func addressesAreBoundedAndGoWithTheLastInterface() throws {
    var list = AddressList()
    for number in 0..<100 { list.note(try address("10.0.0.\(number)"), isThere: true) }
    #expect(list.texts.count == AddressList.maximumAddresses)
    list.note(try address("10.0.0.3"), isThere: true)
    list.note(try address("10.0.0.3"), isThere: false)
    #expect(list.texts.contains("10.0.0.3"))
    list.note(try address("10.0.0.3"), isThere: false)
    list.note(try address("10.0.0.3"), isThere: false)
    #expect(!list.texts.contains("10.0.0.3"))
  }
}
