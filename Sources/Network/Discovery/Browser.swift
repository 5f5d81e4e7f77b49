internal import Linux
internal import Synchronization
internal import Wire

/// Lets the owner stop a browser.
final class BrowserControl: Sendable {
  let wake = EventDescriptor()
  private let hasStopped = Atomic(false)

  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  func stop() {
    hasStopped.store(true, ordering: .releasing)
    wake.raise()
  }
}

/// Browses the network: the main loop of a browser's thread.
struct Browser {
  private let control: BrowserControl
  private let changed: (Neighbourhood) -> Void
  private var reported: Neighbourhood?

  /// Each service takes three D-Bus connections, of which a user may have 256.
  private static let maximumLookups = 32

  init(control: BrowserControl, changed: @escaping (Neighbourhood) -> Void) {
    self.control = control
    self.changed = changed
  }

  mutating func run() {
    var backoff = Backoff.daemon
    while !control.isStopped {
      do throws(ServiceFailure) {
        let browser = try ServiceReference.browse()
        backoff.reset()
        try watch(browser)
      } catch {
        report(Neighbourhood(problem: error.problem))
      }
      let end = ContinuousClock.now + backoff.nextDelay()
      while !control.isStopped, ContinuousClock.now < end {
        _ = control.wake.wait(for: [], limit: end - ContinuousClock.now)
      }
    }
  }

  /// Returns when stopped.
  private mutating func watch(_ browser: ServiceReference) throws(ServiceFailure) {
    var sightings = Sightings()
    var lookups: [Lookup] = []
    while !control.isStopped {
      lookups.removeAll { !sightings.names.contains($0.name) }
      for name in sightings.names
      where lookups.count < Self.maximumLookups && !lookups.contains(where: { $0.name == name }) {
        lookups.append(Lookup(name: name))
      }
      for lookup in lookups { lookup.advance() }
      report(Neighbourhood(children: lookups.compactMap(\.child).sorted { ($0.name, $0.id) < ($1.name, $1.id) }))

      let owners = lookups.flatMap { lookup in lookup.references.map { (lookup, $0) } }
      let limit = lookups.compactMap(\.deadline).min().map { max(.zero, $0 - .now) }
      let ready = control.wake.wait(for: [browser] + owners.map(\.1), limit: limit)
      for (index, (lookup, reference)) in owners.enumerated() where ready[index + 1] {
        lookup.takeReplies(of: reference)
      }
      guard ready[0] else { continue }
      for reply in browser.takeReplies() {
        switch reply {
        case .found(let name): sightings.found(name)
        case .lost(let name): sightings.lost(name)
        case .failed(let failure): throw failure
        case .registered, .resolved, .address: break
        }
      }
    }
  }

  private mutating func report(_ neighbourhood: Neighbourhood) {
    guard neighbourhood != reported else { return }
    reported = neighbourhood
    changed(neighbourhood)
  }
}

/// The service names on the network. Each is reported once per interface and IP version.
struct Sightings {
  private var counts: [String: Int] = [:]
  /// In order of arrival.
  private(set) var names: [String] = []

  /// Further names are ignored; no home has that many children.
  static let maximumNames = 256

  mutating func found(_ name: String) {
    if let count = counts[name] {
      counts[name] = count &+ 1
    } else if names.count < Self.maximumNames, ServiceNames.isInstance(name) {
      counts[name] = 1
      names.append(name)
    }
  }

  mutating func lost(_ name: String) {
    guard let count = counts[name] else { return }
    if count > 1 {
      counts[name] = count - 1
    } else {
      counts[name] = nil
      names.removeAll { $0 == name }
    }
  }
}
