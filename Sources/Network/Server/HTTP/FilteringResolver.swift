internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import Wire

/// Looks a name up and keeps the addresses that are allowed. What is connected to is what was looked at: a name cannot have
/// another address a moment later. For one connection.
final class FilteringResolver: Resolver, Sendable {
  private let eventLoop: any EventLoop
  private let isAllowed: @Sendable (IPAddress) -> Bool
  private let v4: EventLoopPromise<[SocketAddress]>
  private let v6: EventLoopPromise<[SocketAddress]>

  init(eventLoop: any EventLoop, isAllowed: @escaping @Sendable (IPAddress) -> Bool) {
    self.eventLoop = eventLoop
    self.isAllowed = isAllowed
    v4 = eventLoop.makePromise()
    v6 = eventLoop.makePromise()
  }

  /// A name server that does not answer holds a thread for half a minute. NIO's own pool has stills and codes to make.
  private static let pool: NIOThreadPool = {
    let pool = NIOThreadPool(numberOfThreads: 2)
    pool.start()
    return pool
  }()
  private static let waiting = Atomic<Int>(0)
  private static let maximumWaiting = 32

  // NIO asks for both; one look-up answers both.
  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { v4.futureResult }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    let (v4, v6, isAllowed) = (v4, v6, isAllowed)
    guard Self.waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
      Self.waiting.wrappingSubtract(1, ordering: .relaxed)
      v4.fail(HTTPClientError.nameNotFound(host))
      v6.fail(HTTPClientError.nameNotFound(host))
      return v6.futureResult
    }
    Self.pool.runIfActive(eventLoop: eventLoop) {
      try Self.addresses(of: host, port: port)
    }.whenComplete { result in
      Self.waiting.wrappingSubtract(1, ordering: .relaxed)
      do {
        let found = try result.get()
        let allowed = found.filter { $0.transportAddress.map { isAllowed($0.ip) } ?? false }
        guard found.isEmpty || !allowed.isEmpty else { throw HTTPClientError.forbiddenAddress }
        v4.succeed(allowed.filter { $0.protocol == .inet })
        v6.succeed(allowed.filter { $0.protocol == .inet6 })
      } catch {
        v4.fail(error)
        v6.fail(error)
      }
    }
    return v6.futureResult
  }

  /// A look-up cannot be stopped; its result is dropped.
  func cancelQueries() {}

  private static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw HTTPClientError.nameNotFound(host) }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next {
      defer { next = entry.pointee.ai_next }
      guard let address = entry.pointee.ai_addr else { continue }
      switch entry.pointee.ai_family {
      case AF_INET:
        found.append(
          address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: host) })
      case AF_INET6:
        found.append(
          address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: host) })
      default: break
      }
    }
    return found
  }
}
