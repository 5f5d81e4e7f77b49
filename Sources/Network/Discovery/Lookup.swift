internal import Glibc
internal import Wire

/// Resolves one service: its host, addresses and TXT record. Retries when there is no answer.
///
/// Keeps its three references, to be notified of changes to the TXT record, host or addresses.
final class Lookup {
  let name: String
  private var state = State.waiting(until: .now)
  private var backoff = Backoff.service

  private enum State {
    /// No query is active.
    case waiting(until: ContinuousClock.Instant)
    case resolving(ServiceReference)
    case resolved(ServiceReference, Service)
  }

  private struct Service {
    var host: String
    var port: UInt16
    var text: ServiceText
    var addresses = AddressList()
    /// For IPv4 and IPv6 addresses.
    let queries: [ServiceReference]
    /// After this time, addresses of a single IP version count as complete.
    let complete: ContinuousClock.Instant
  }

  /// Answers for both versions arrive within milliseconds of each other; a child should be listed with both.
  private static let gathering = Duration.milliseconds(200)

  init(name: String) {
    self.name = name
  }

  var references: [ServiceReference] {
    switch state {
    case .waiting: []
    case .resolving(let resolver): [resolver]
    case .resolved(let resolver, let service): [resolver] + service.queries
    }
  }

  /// When to call `advance` even if no reference is readable; nil for never.
  var deadline: ContinuousClock.Instant? {
    switch state {
    case .waiting(let until): until
    case .resolving: nil
    case .resolved(_, let service): service.complete > .now ? service.complete : nil
    }
  }

  /// Nil until everything is known, or if the service is not a child.
  var child: DiscoveredChild? {
    guard case .resolved(_, let service) = state, !service.addresses.isEmpty,
      service.addresses.hasBothVersions || service.complete <= .now
    else { return nil }
    return DiscoveredChild(
      name: name, id: service.text.id, host: service.host, addresses: service.addresses.texts, port: service.port,
      pairing: service.text.pairing, version: service.text.version)
  }

  /// Starts a query that is due.
  func advance() {
    guard case .waiting(let until) = state, until <= .now else { return }
    do throws(ServiceFailure) {
      state = .resolving(try .resolve(name: name))
    } catch {
      wait()
    }
  }

  /// Call when the reference is readable; ignored if an earlier reply has replaced the reference.
  func takeReplies(of reference: ServiceReference) {
    guard references.contains(where: { $0 === reference }) else { return }
    for reply in reference.takeReplies() {
      switch reply {
      case .resolved(let host, let port, let text): resolved(host: host, port: port, text: text)
      case .address(let ip, let interface, let isThere):
        guard case .resolved(let resolver, var service) = state else { continue }
        let zone = ip.isIPv6 && ip.isLinkLocal ? ServiceReference.interfaceName(interface) : nil
        service.addresses.note(FoundAddress(ip: ip, zone: zone), isThere: isThere)
        state = .resolved(resolver, service)
      case .failed: wait()
      case .registered, .found, .lost: break
      }
    }
  }

  private func resolved(host: String, port: UInt16, text: [UInt8]) {
    let resolver: ServiceReference
    switch state {
    case .waiting: return
    case .resolving(let reference), .resolved(let reference, _): resolver = reference
    }
    guard let text = ServiceText(parsing: text), let shownHost = ServiceNames.host(host), port != 0 else {
      // Not a child, unless it changes.
      state = .resolving(resolver)
      return
    }
    if case .resolved(_, var service) = state, service.host == shownHost {
      (service.port, service.text) = (port, text)
      state = .resolved(resolver, service)
      return
    }
    do throws(ServiceFailure) {
      // RFC 1035 section 3.2.2 and RFC 3596 section 2.1.
      let queries = [try ServiceReference.addresses(of: host, type: 1), try .addresses(of: host, type: 28)]
      backoff.reset()
      state = .resolved(
        resolver,
        Service(host: shownHost, port: port, text: text, queries: queries, complete: .now + Self.gathering))
    } catch {
      wait()
    }
  }

  private func wait() {
    state = .waiting(until: .now + backoff.nextDelay())
  }
}

/// An address of a child.
struct FoundAddress: Hashable {
  var ip: IPAddress
  /// The interface of a link-local IPv6 address, which is ambiguous without it (RFC 4007 section 11).
  var zone: String?

  var text: String { "\(ip)" + (zone.map { "%\($0)" } ?? "") }

  /// Lower is better: every home has IPv4; a loopback address is useful only on the same machine.
  fileprivate var rank: Int {
    if ip.isLoopback { return 4 }
    if ip.isLinkLocal { return ip.isIPv6 ? 2 : 3 }
    return ip.isIPv6 ? 1 : 0
  }
}

/// The addresses of one host, bounded and in a fixed order.
struct AddressList {
  private var counts: [FoundAddress: Int] = [:]

  static let maximumAddresses = 16

  var isEmpty: Bool { counts.isEmpty }
  var hasBothVersions: Bool { counts.keys.contains { $0.ip.isIPv6 } && counts.keys.contains { !$0.ip.isIPv6 } }
  var texts: [String] { counts.keys.map { ($0.rank, $0.text) }.sorted { $0 < $1 }.map(\.1) }

  /// Several interfaces may report the same address; it is gone when all of them have lost it.
  mutating func note(_ address: FoundAddress, isThere: Bool) {
    if let count = counts[address] {
      counts[address] = isThere ? count &+ 1 : (count > 1 ? count - 1 : nil)
    } else if isThere, counts.count < Self.maximumAddresses, Self.isUsable(address) {
      counts[address] = 1
    }
  }

  /// Neither unspecified nor multicast, and with a zone where one is needed.
  private static func isUsable(_ address: FoundAddress) -> Bool {
    switch address.ip {
    case .v4(let value): !address.ip.isUnspecified && value >> 28 < 0xe
    case .v6(let high, _):
      !address.ip.isUnspecified && high >> 56 != 0xff && (!address.ip.isLinkLocal || address.zone != nil)
    }
  }
}
