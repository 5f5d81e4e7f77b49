import Synchronization
import Testing

@testable import Discovery

/// A network that is what the test says.
private final class FakeDiscovery: Discovery {
  private let neighbourhoods: [Neighbourhood]
  private let endings = Atomic(0)

  init(_ neighbourhoods: [Neighbourhood]) {
    self.neighbourhoods = neighbourhoods
  }

  var endedBrowsers: Int { endings.load(ordering: .relaxed) }

  func advertise(
    _ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
  ) -> any Advertising {
    stateChanged(.advertised(name: advertisement.name))
    return FakeAdvertising()
  }

  func browse() -> AsyncStream<Neighbourhood> {
    AsyncStream { continuation in
      continuation.onTermination = { [self] _ in endings.add(1, ordering: .relaxed) }
      for neighbourhood in neighbourhoods { continuation.yield(neighbourhood) }
    }
  }

  private final class FakeAdvertising: Advertising {
    func setPairing(_ pairing: PairingWindow) {}
    func stop() {}
  }
}

@Suite struct ResolveTests {
  private func child(_ name: String) -> DiscoveredChild {
    DiscoveredChild(
      name: name, id: "0123456789abcdef", host: "a.local", addresses: ["10.0.0.1"], port: 1, pairing: .closed,
      version: nil)
  }

  @Test func theFirstThatMatchesIsTaken() async {
    let network = FakeDiscovery([
      Neighbourhood(), Neighbourhood(children: [child("A")]), Neighbourhood(children: [child("A"), child("B")]),
    ])
    #expect(await network.resolve(within: .seconds(60)) { $0.name == "B" }?.name == "B")
    #expect(network.endedBrowsers == 1)
  }

  @Test func nobodyComes() async {
    let network = FakeDiscovery([Neighbourhood(children: [child("A")])])
    #expect(await network.resolve(within: .milliseconds(50)) { $0.name == "B" } == nil)
    #expect(network.endedBrowsers == 1)
  }

  @Test func aNetworkThatCannotBeWatchedIsNotWaitedFor() async {
    let network = FakeDiscovery([Neighbourhood(problem: .noAvahi)])
    #expect(await network.resolve(within: .seconds(3600)) { _ in true } == nil)
  }
}
