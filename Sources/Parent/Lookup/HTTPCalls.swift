internal import NIOCore
internal import NIOPosix
internal import Server
internal import Signaling

/// An HTTP client for async code, with an event loop of its own.
struct HTTPCalls: Sendable {
  private let client: HTTPClient

  /// Runs `body` with a client for this origin, and closes it.
  static func with<Result: Sendable>(
    _ origin: HTTPOrigin, trust: HTTPTrust, _ body: (HTTPCalls) async throws -> Result
  ) async throws -> Result {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    var limits = HTTPClient.Limits()
    // Somebody is waiting for it.
    limits.connectTimeout = .seconds(5)
    do {
      let calls = HTTPCalls(client: try HTTPClient(origin: origin, trust: trust, limits: limits, eventLoop: loop))
      let result = try await body(calls)
      try await loop.submit { calls.client.close() }.get()
      try await group.shutdownGracefully()
      return result
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  /// Throws `HTTPClientError`.
  func send(_ request: HTTPClientRequest) async throws -> HTTPResponse {
    let client = client
    return try await client.eventLoop.flatSubmit {
      let promise = client.eventLoop.makePromise(of: HTTPResponse.self)
      client.send(request) { promise.completeWith($0.mapError { $0 }) }
      return promise.futureResult
    }.get()
  }
}
