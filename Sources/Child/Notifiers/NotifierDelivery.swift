internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import Notifications
internal import Server
internal import Signaling
internal import Wire

/// One try to deliver one notification. Confined to its notifier's event loop.
///
/// Each try has a connection of its own: they are rare, and files and addresses may have changed since the last one.
final class NotifierDelivery {
  private let notification: Notification
  /// JPEG.
  private let picture: [UInt8]?
  private let loop: any EventLoop
  private var client: HTTPClient?
  private var redirects = 0
  /// Nil once it has been called.
  private var completion: ((DeliveryOutcome) -> Void)?

  /// Redirects within the same origin that are followed.
  private static let maximumRedirects = 3

  init(
    _ notification: Notification, picture: [UInt8]?, loop: any EventLoop,
    then completion: @escaping (DeliveryOutcome) -> Void
  ) {
    self.notification = notification
    self.picture = picture
    self.loop = loop
    self.completion = completion
  }

  /// The completion is called once, possibly from within.
  func start(_ destination: any NotifierDestination) {
    do throws(NotifierProblem) {
      let request = try destination.request()
      try open(request)
      send(request, to: request.url)
    } catch {
      finish(.failed(error.description))
    }
  }

  /// Ends without an outcome.
  func cancel() {
    completion = nil
    client?.close()
    client = nil
  }

  private func open(_ request: any NotifierRequest) throws(NotifierProblem) {
    var limits = HTTPClient.Limits()
    // Some servers answer with a page.
    limits.maximumBodyBytes = 1 << 20
    do throws(HTTPClientError) {
      client = try HTTPClient(
        origin: request.url.origin, trust: request.trust, limits: limits, eventLoop: loop, mayReach: request.mayReach)
    } catch {
      throw NotifierProblem(description: "\(error)")
    }
  }

  private func send(_ request: any NotifierRequest, to url: HTTPURL) {
    client?.send(request.message(notification, picture: picture, to: url)) { [weak self] result in
      self?.received(result, request, from: url)
    }
  }

  private func received(
    _ result: Result<HTTPResponse, HTTPClientError>, _ request: any NotifierRequest, from url: HTTPURL
  ) {
    switch result {
    case .failure(let error):
      finish(Self.outcome(error))
    case .success(let response) where (300...399).contains(response.status.code):
      redirected(response, request, from: url)
    case .success(let response):
      let retryAfter = response.headers.first(name: "Retry-After").flatMap { Duration(retryAfter: $0) }
      let status = Int(response.status.code)
      finish(.status(status, retryAfter: retryAfter, reason: status < 400 ? nil : Self.reason(response.body)))
    }
  }

  /// The server's own word for what is wrong, as push services give it in JSON; at most 64 letters.
  private static func reason(_ body: [UInt8]) -> String? {
    guard let members = (try? JSON(body, maximumBytes: 4096))?.object else { return nil }
    let words = ["reason", "message", "error"].lazy.compactMap { members[$0]?.string }.first { !$0.isEmpty }
    return words.map { $0.printable(maximum: 64) }
  }

  private static func outcome(_ error: HTTPClientError) -> DeliveryOutcome {
    // Its status says what became of the message, whatever the server has to say about it.
    if case .responseTooLarge(_, let status?) = error { return .status(status, retryAfter: nil) }
    return .failed("\(error)")
  }

  /// RFC 9110 section 15.4. Only 307 and 308 keep method and body; another origin could be anybody, and would get the
  /// token.
  private func redirected(_ response: HTTPResponse, _ request: any NotifierRequest, from url: HTTPURL) {
    let status = response.status.code
    guard let location = response.headers.first(name: "Location"), let target = try? url.resolving(location) else {
      return finish(.refused("the server answered \(status) without a usable address"))
    }
    guard target.origin == url.origin else {
      return finish(
        .refused("the server sends to \(target.origin), which is not followed; if that is right, write it into url"))
    }
    guard status == 307 || status == 308, redirects < Self.maximumRedirects else {
      return finish(
        .refused("the server answered \(status) and sends to another path, which is not followed; check url"))
    }
    redirects += 1
    do throws(NotifierProblem) {
      // Over a new connection: servers close one after a redirect without a word.
      client?.close()
      try open(request)
      send(request, to: target)
    } catch {
      finish(.failed(error.description))
    }
  }

  private func finish(_ outcome: DeliveryOutcome) {
    client?.close()
    client = nil
    completion?(outcome)
    completion = nil
  }
}
