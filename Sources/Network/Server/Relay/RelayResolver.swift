internal import CLinux
internal import Glibc
public import NIOCore
internal import NIOPosix
public import TURN
public import Wire

/// Finds the addresses of STUN and TURN servers.
public enum RelayResolver {
  /// A name server that does not answer is asked again by the system for much longer.
  static let timeout: TimeAmount = .seconds(8)
  static let maximumAddresses = 8

  /// The addresses of the URL's host, best first (RFC 6724); an address is its own. Runs on a thread of NIO's pool, so
  /// that the loop never waits.
  ///
  /// - Returns: fails with `TURNFailure.transportLost` when there is no address, or none in time.
  public static func addresses(of url: ICEServerURL, on eventLoop: any EventLoop) -> EventLoopFuture<[IPAddress]> {
    if let address = IPAddress(url.host) { return eventLoop.makeSucceededFuture([address]) }
    let host = url.host
    let promise = eventLoop.makePromise(of: [IPAddress].self)
    let patience = eventLoop.scheduleTask(in: timeout) {
      promise.fail(TURNFailure.transportLost("no answer about the name \(host)"))
    }
    NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { lookUp(host) }.whenComplete { result in
      patience.cancel()
      let found = (try? result.get()) ?? []
      if found.isEmpty {
        promise.fail(TURNFailure.transportLost("no address belongs to the name \(host)"))
      } else {
        promise.succeed(found)
      }
    }
    return promise.futureResult
  }

  /// As `addresses(of:on:)`, without those that the server's lender may not name.
  static func addresses(
    of url: ICEServerURL, lentBy lender: LendingPlace?, on eventLoop: any EventLoop
  ) -> EventLoopFuture<[IPAddress]> {
    let all = addresses(of: url, on: eventLoop)
    guard let lender else { return all }
    return all.flatMapThrowing { found in
      let own = LocalAddresses.current(includingLoopback: false)
      let allowed = found.filter { lender.mayName($0, own: own) }
      guard !allowed.isEmpty else {
        throw TURNFailure.transportLost("a meeting place may not name an address of this machine or its network")
      }
      return allowed
    }
  }

  /// getaddrinfo(3).
  private static func lookUp(_ host: String) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [IPAddress] = []
    var entry = list
    while let info = entry?.pointee, found.count < maximumAddresses {
      entry = info.ai_next
      // A link-local address needs a zone, which `IPAddress` does not carry.
      if let ip = address(info), !ip.isUnspecified, !(ip.isIPv6 && ip.isLinkLocal), !found.contains(ip) {
        found.append(ip)
      }
    }
    return found
  }

  private static func address(_ info: addrinfo) -> IPAddress? {
    guard let name = info.ai_addr else { return nil }
    switch info.ai_family {
    case AF_INET:
      return name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        SocketAddress($0.pointee).transportAddress?.ip
      }
    case AF_INET6:
      return name.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        SocketAddress($0.pointee).transportAddress?.ip
      }
    default: return nil
    }
  }
}
