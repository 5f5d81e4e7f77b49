internal import Linux

/// DNS-SD (RFC 6763) over multicast DNS, through the machine's Avahi daemon: `_cradle._tcp` in "local".
///
/// Each advertisement and each browser has one thread, which sleeps while nothing happens. Without a daemon everything
/// is retried, at most ten seconds apart. When the machine's addresses change, the daemon itself announces again.
public struct DNSServiceDiscovery: Discovery {
  public init() {}

  public func advertise(
    _ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
  ) -> any Advertising {
    Advertiser(advertisement, stateChanged: stateChanged)
  }

  public func browse() -> AsyncStream<Neighbourhood> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let control = BrowserControl()
      continuation.onTermination = { _ in control.stop() }
      _ = WorkerThread(name: "dns-sd-browse") {
        var browser = Browser(control: control) { continuation.yield($0) }
        browser.run()
        continuation.finish()
      }
    }
  }
}
