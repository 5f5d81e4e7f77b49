import Discovery
import Foundation
import Testing

/// Against real Avahi daemons, on two hosts that see only each other.
@Suite(.enabled(if: getuid() == 0, "network namespaces need root")) struct RealDaemonTests {
  private let network: HomeNetwork

  init() throws {
    network = try HomeNetwork()
  }

  @Test func aChildIsFoundOnAnotherHostAndGoes() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    try await child.waitUntilAdvertised(as: "Nursery")
    let found = try await parent.waitForChildren { !$0.isEmpty }
    let nursery = try #require(found.first)
    #expect(found.count == 1)
    #expect(nursery.name == "Nursery" && nursery.id == "0123456789abcdef" && nursery.host == "nursery.local")
    #expect(nursery.port == 8443 && nursery.pairing == .closed && nursery.version == "1.2.3")
    // Both versions from the beginning. Avahi publishes link-local addresses only where there is nothing better.
    #expect(nursery.addresses == ["10.77.3.1", "fd77:3::1"])

    try child.write("stop")
    try await parent.waitForChildren { $0.isEmpty }
  }

  @Test func theRecordIsWhatTheInterfaceSays() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    try await child.waitUntilAdvertised(as: "Nursery")
    let tool = try RunningProgram(on: network.kitchen, ["avahi-browse", "-rp", "_cradle._tcp"])
    let line = try await tool.wait(for: "the record") { lines in
      lines.first { $0.hasPrefix("=;cable;IPv4;Nursery;_cradle._tcp;local;nursery.local;10.77.3.1;8443;") }
    }
    let text = Set(line.split(separator: ";").last?.split(separator: " ").map(String.init) ?? [])
    #expect(text == [#""txtvers=1""#, #""id=0123456789abcdef""#, #""v=1.2.3""#, #""pairing=closed""#])
  }

  @Test func openingAndClosingPairingIsSeen() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    try await parent.waitForChildren { $0.first?.pairing == .closed }
    for pairing in [PairingWindow.open, .closed, .open] {
      try child.write(pairing.rawValue)
      try await parent.waitForChildren { $0.first?.pairing == pairing }
    }
    // It never went away in between.
    let seen = parent.lines.compactMap(RunningProgram.children).drop(while: \.isEmpty)
    #expect(seen.allSatisfy { $0.count == 1 })
  }

  @Test func aNewAddressIsSeenAndTheOldOneGoes() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    try await parent.waitForChildren { $0.first?.addresses.contains("10.77.3.1") == true }
    try network.nursery.ip("addr", "add", "10.77.3.9/24", "dev", "cable")
    try await parent.waitForChildren { $0.first?.addresses.contains("10.77.3.9") == true }
    try network.nursery.ip("addr", "delete", "10.77.3.1/24", "dev", "cable")
    try network.nursery.ip("addr", "replace", "10.77.3.9/24", "dev", "cable")
    try await parent.waitForChildren {
      $0.first?.addresses.contains("10.77.3.9") == true && $0.first?.addresses.contains("10.77.3.1") == false
    }
    withExtendedLifetime(child) {}
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func theChildIsBackAfterItsDaemonRestarts(signal: Int32) async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    try await child.waitUntilAdvertised(as: "Nursery")
    try await parent.waitForChildren { $0.count == 1 }
    let before = child.lines.count
    network.nursery.stopAvahi(with: signal)
    try await child.wait(for: "waiting") { $0.last?.hasPrefix("waiting Avahi does not answer") == true ? true : nil }
    if signal == SIGTERM { try await parent.waitForChildren { $0.isEmpty } }
    // What is decided while nobody can be told is told later.
    try child.write("open")
    try network.nursery.startAvahi()
    try await child.waitUntilAdvertised(as: "Nursery")
    try await parent.waitForChildren { $0.count == 1 && $0.first?.pairing == .open }
    #expect(child.lines.dropFirst(before).count { $0.hasPrefix("waiting") } == 1)
  }

  @Test func bothAreBackAfterTheMessageBusRestarts() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.nursery)
    try await parent.waitForChildren { $0.count == 1 }
    let (childBefore, parentBefore) = (child.lines.count, parent.lines.count)
    network.nursery.stopAvahi()
    network.nursery.stopBus()
    try await child.wait(for: "waiting") { $0.last?.hasPrefix("waiting") == true ? true : nil }
    try await parent.wait(for: "problem") { $0.last?.hasPrefix("problem Avahi does not answer") == true ? true : nil }
    try network.nursery.startBus()
    try network.nursery.startAvahi()
    try await child.waitUntilAdvertised(as: "Nursery")
    try await parent.waitForChildren { $0.first?.name == "Nursery" }
    #expect(child.lines.dropFirst(childBefore).count { $0.hasPrefix("waiting") } == 1)
    #expect(parent.lines.dropFirst(parentBefore).count { $0.hasPrefix("problem") } == 1)
  }

  /// The daemon goes away under a browser with resolvers and record queries.
  @Test func theParentGoesOnAfterItsDaemonRestarts() async throws {
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    for _ in 0..<3 {
      try await parent.waitForChildren { $0.count == 1 }
      network.kitchen.stopAvahi(with: SIGKILL)
      try await parent.wait(for: "problem") { $0.last?.hasPrefix("problem") == true ? true : nil }
      try network.kitchen.startAvahi()
    }
    try await parent.waitForChildren { $0.count == 1 }
    withExtendedLifetime(child) {}
  }

  @Test func withoutAvahiNothingWaitsAndItIsSaidOnce() async throws {
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.nursery)
    try await child.wait(for: "waiting") { $0.last?.hasPrefix("waiting") == true ? true : nil }
    try await parent.wait(for: "problem") { $0.last?.hasPrefix("problem") == true ? true : nil }
    try child.write("took")
    let took = try await child.wait(for: "the time") { $0.first { $0.hasPrefix("took") } }
    // It waits for nothing; the limit is for a busy machine.
    #expect(took.split(separator: " ").compactMap { Double($0) }.first ?? .infinity < 5000)
    let resolving = try Probe.resolve(on: network.nursery, id: "0123456789abcdef", seconds: 3600)
    try await resolving.wait(for: "an early answer") { $0.last == "[]" ? true : nil }
    // A bus without Avahi is no news.
    try network.nursery.startBus()
    try await Task.sleep(for: .seconds(2))
    try network.nursery.startAvahi()
    try await child.waitUntilAdvertised(as: "Nursery")
    try await parent.waitForChildren { $0.count == 1 }
    #expect(child.lines.count { $0.hasPrefix("waiting") } == 1)
    #expect(parent.lines.count { $0.hasPrefix("problem") } == 1)
  }

  @Test func aNameThatIsTakenGetsANumber() async throws {
    try network.startDaemons()
    let first = try Probe.advertise(on: network.nursery, id: "0000000000000001")
    try await first.waitUntilAdvertised(as: "Nursery")
    let sameHost = try Probe.advertise(on: network.nursery, id: "0000000000000002")
    try await sameHost.waitUntilAdvertised(as: "Nursery #2")
    let otherHost = try Probe.advertise(on: network.kitchen, id: "0000000000000003")
    try await otherHost.waitUntilAdvertised(as: "Nursery #3")
    let parent = try Probe.browse(on: network.kitchen)
    let found = try await parent.waitForChildren { $0.count == 3 }
    #expect(found.map(\.name) == ["Nursery", "Nursery #2", "Nursery #3"])
    #expect(found.map(\.id) == ["0000000000000001", "0000000000000002", "0000000000000003"])
    #expect(first.lines.last == "advertised Nursery")
  }

  @Test func whatIsNoChildIsLeftOut() async throws {
    try network.startDaemons()
    let parent = try Probe.browse(on: network.kitchen)
    let texts: [[String]] = [
      [], ["txtvers=2", "id=0123456789abcdef"], ["txtvers=1", "id=0123456789ABCDEF"], ["txtvers=1", "id=../../etc"],
      ["txtvers=1", "=", "id"], ["txtvers=1", "id=" + String(repeating: "a", count: 200)],
    ]
    let others = try texts.enumerated().map { number, text in
      try RunningProgram(
        on: network.nursery, ["avahi-publish", "-s", "Other \(number)", "_cradle._tcp", "8443"] + text)
    }
    let child = try Probe.advertise(on: network.nursery, name: "Kinderzimmer für „Ö“ 👶.", id: "00000000000000ff")
    let found = try await parent.waitForChildren { !$0.isEmpty }
    #expect(found.map(\.name) == ["Kinderzimmer für „Ö“ 👶."])
    #expect(parent.lines.compactMap(RunningProgram.children).allSatisfy { $0.count <= 1 })
    withExtendedLifetime((others, child)) {}
  }

  @Test func resolvingFindsTheChildThatIsWanted() async throws {
    try network.startDaemons()
    let others = try (1...3).map {
      try Probe.advertise(on: network.nursery, name: "Child \($0)", id: "000000000000000\($0)")
    }
    for other in others { try await other.wait(for: "advertised") { $0.last?.hasPrefix("adv") == true ? true : nil } }
    let resolving = try Probe.resolve(on: network.kitchen, id: "0000000000000002", seconds: 60)
    let line = try await resolving.wait(for: "an answer", \.last)
    #expect(RunningProgram.children(in: line)?.map(\.name) == ["Child 2"])
    let missing = try Probe.resolve(on: network.kitchen, id: "00000000000000aa", seconds: 1)
    #expect(try await missing.wait(for: "an answer", \.last) == "[]")
  }

  private static let hidden = "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.local"

  /// As a browser announces the name that stands for its address.
  @Test func theAddressBehindABrowsersNameIsFound() async throws {
    try network.startDaemons()
    let browser = try RunningProgram(
      on: network.nursery, ["avahi-publish", "-f", "-a", "-R", Self.hidden, "10.77.3.1"])
    let lookup = try Probe.addresses(
      on: network.kitchen, of: ["nursery.local", Self.hidden, "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c2.local"])
    // Whoever asks before the name is known asks again.
    for _ in 0..<20 where lookup.lines.isEmpty {
      try lookup.write("again")
      try await Task.sleep(for: .milliseconds(500))
    }
    #expect(Set(lookup.lines) == ["\(Self.hidden) 10.77.3.1"])
    // The thread has ended by then, and another one begins.
    try await Task.sleep(for: .seconds(6))
    let before = lookup.lines.count
    try lookup.write("again")
    try await lookup.wait(for: "the address once more") { $0.count > before ? true : nil }
    withExtendedLifetime(browser) {}
  }

  @Test func hostsOfOneNameAreToldApart() async throws {
    let network = try HomeNetwork(hostNames: ("cradle", "cradle"))
    try network.startDaemons()
    let first = try Probe.advertise(on: network.nursery, name: "One", id: "0000000000000001")
    let second = try Probe.advertise(on: network.kitchen, name: "Two", id: "0000000000000002")
    let parent = try Probe.browse(on: network.kitchen)
    let found = try await parent.waitForChildren { $0.count == 2 && $0[0].host != $0[1].host }
    #expect(found[0].addresses.contains("10.77.3.1") && !found[0].addresses.contains("10.77.3.2"))
    #expect(found[1].addresses.contains("10.77.3.2") && !found[1].addresses.contains("10.77.3.1"))
    withExtendedLifetime((first, second)) {}
  }

  @Test func aLinkLocalAddressNamesItsInterface() async throws {
    for host in [network.nursery, network.kitchen] { try host.ip("addr", "flush", "dev", "cable", "scope", "global") }
    try network.startDaemons()
    let child = try Probe.advertise(on: network.nursery)
    let parent = try Probe.browse(on: network.kitchen)
    let found = try await parent.waitForChildren { !$0.isEmpty }
    let address = try #require(found.first?.addresses.first)
    #expect(address.hasPrefix("fe80::") && address.hasSuffix("%cable"))
    withExtendedLifetime(child) {}
  }
}
