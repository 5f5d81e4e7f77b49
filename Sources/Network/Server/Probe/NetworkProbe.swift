public import NIOCore
public import TURN
public import Wire

/// Tries each address of the STUN and TURN servers, for the doctors.
public enum NetworkProbe {
  /// For everything of one server address: a TLS connection through a slow network included.
  private static let limit: TimeAmount = .seconds(10)

  /// Takes as long as the slowest server, some seconds at most.
  ///
  /// - Parameter now: the monotonic clock.
  public static func run(
    _ servers: [ICEServer], on loop: any EventLoop, now: @escaping @Sendable () -> Instant
  ) async -> NetworkVerdict {
    let urls = servers.flatMap { server in server.urls.map { (server, $0) } }
    var resolved: [ICEServerURL: Result<IPAddress, any Error>] = [:]
    for (_, url) in urls where resolved[url] == nil {
      do {
        let addresses = try await RelayResolver.addresses(of: url, on: loop).get()
        // The socket of the comparison has one family, which every server here should have.
        guard let address = addresses.first(where: { !$0.isIPv6 }) ?? addresses.first else { continue }
        resolved[url] = .success(address)
      } catch {
        resolved[url] = .failure(error)
      }
    }
    let seen = await reflexive(resolved, on: loop, now: now)
    let tls = urls.contains { $0.1.turnTransport == .tls } ? try? RelayTLS() : nil
    var answers: [ServerAnswer] = []
    for (server, url) in urls {
      let outcome: ServerAnswer.Outcome
      switch resolved[url] {
      case .success(let address)?:
        if url.turnTransport != nil {
          outcome = await relay(server, url, address, tls, on: loop, now: now)
        } else {
          outcome =
            seen[TransportAddress(ip: address, port: url.port)].map { .mapped($0) }
            ?? .failed("no answer over UDP")
        }
      case .failure(let error)?: outcome = .failed("\(error)")
      case nil: outcome = .failed("no address belongs to its name")
      }
      answers.append(ServerAnswer(url: "\(url)", outcome: outcome))
    }
    return NetworkVerdict(
      answers: answers, mapped: Array(seen.values), own: LocalAddresses.current(includingLoopback: true))
  }

  /// TURN servers answer Binding requests, too, often at the port of `turns` as well: two ports of one server tell whether
  /// the router takes another port for each destination.
  private static func reflexive(
    _ resolved: [ICEServerURL: Result<IPAddress, any Error>], on loop: any EventLoop,
    now: @escaping @Sendable () -> Instant
  ) async -> [TransportAddress: TransportAddress] {
    var servers: Set<TransportAddress> = []
    for (url, result) in resolved {
      if let ip = try? result.get() { servers.insert(TransportAddress(ip: ip, port: url.port)) }
    }
    let families = [servers.filter { !$0.ip.isIPv6 }, servers.filter(\.ip.isIPv6)]
    var seen: [TransportAddress: TransportAddress] = [:]
    for family in families where !family.isEmpty {
      let found = (try? await ReflexiveProbe.run(Array(family), now: now, on: loop).get()) ?? [:]
      seen.merge(found) { first, _ in first }
    }
    return seen
  }

  private static func relay(
    _ server: ICEServer, _ url: ICEServerURL, _ address: IPAddress, _ tls: RelayTLS?, on loop: any EventLoop,
    now: @escaping @Sendable () -> Instant
  ) async -> ServerAnswer.Outcome {
    guard let username = server.username, let password = server.credential else {
      return .failed("no credentials for it")
    }
    guard let relay = RelayServer(url, address: address, tls: tls) else { return .failed("it cannot be used") }
    let promise = loop.makePromise(of: ServerAnswer.Outcome.self)
    let opened = loop.submit {
      let allocation = RelayAllocation(
        server: relay, credentials: TURNCredentials(username: username, password: password), eventLoop: loop, now: now
      ) { event in
        switch event {
        case .allocated(let relayed, _): promise.succeed(.relayed(relayed))
        case .ended(let failure): promise.succeed(.failed("\(failure)"))
        case .received, .peerRefused, .renewalDue: break
        }
      }
      loop.scheduleTask(in: limit) { promise.succeed(.failed("no answer in \(limit.nanoseconds / 1_000_000_000) s")) }
      allocation.open()
      return allocation
    }
    let outcome = try? await promise.futureResult.get()
    if let allocation = try? await opened.get() { loop.execute { allocation.close() } }
    return outcome ?? .failed("it was given up")
  }
}
