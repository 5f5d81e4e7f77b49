@testable import Discovery

/// A network whose children are known beforehand.
struct FakeDiscovery: Discovery {
  var neighbourhood = Neighbourhood()

  init(_ children: [DiscoveredChild] = [], problem: DiscoveryProblem? = nil) {
    neighbourhood = Neighbourhood(children: children, problem: problem)
  }

  func advertise(
    _ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
  ) -> any Advertising {
    Silence()
  }

  func browse() -> AsyncStream<Neighbourhood> {
    AsyncStream { $0.yield(neighbourhood) }
  }

  private final class Silence: Advertising {
    func setPairing(_ pairing: PairingWindow) {}
    func stop() {}
  }
}

extension DiscoveredChild {
  static func test(
    _ name: String, id: String = "0000000000000001", addresses: [String] = ["192.0.2.7"], port: UInt16 = 8443,
    pairing: PairingWindow = .closed
  ) -> DiscoveredChild {
    DiscoveredChild(
      name: name, id: id, host: "nursery.local", addresses: addresses, port: port, pairing: pairing, version: nil)
  }
}
