internal import FoundationEssentials
internal import NIOHTTP1
internal import Notifications
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// An address of the configuration.
struct ConfiguredDestination: NotifierDestination {
  let settings: ChildConfiguration.Notifier
  /// The child's name.
  let child: String

  var name: String { settings.name }
  var filter: NotificationFilter { settings.filter }

  var wantsPicture: Bool { settings.picture != nil }

  func request() throws(NotifierProblem) -> any NotifierRequest { try ConfiguredRequest(settings, child: child) }
}

/// A notifier's request with the secrets that its files hold.
struct ConfiguredRequest: NotifierRequest {
  let url: HTTPURL
  let trust: HTTPTrust
  let mayReach: (@Sendable (IPAddress) -> Bool)? = nil
  private let child: String
  private let method: HTTPMethod
  private let headers: HTTPHeaders
  private let settings: ChildConfiguration.Notifier

  /// Reads the files, so that a token can be replaced while the child runs.
  init(_ settings: ChildConfiguration.Notifier, child: String) throws(NotifierProblem) {
    self.settings = settings
    self.child = child
    url = try Self.url(settings.url)
    var headers = HTTPHeaders()
    for header in settings.headers { headers.add(name: header.name, value: try Self.read(header.value)) }
    if settings.method != .get, !headers.contains(name: "Content-Type") {
      headers.add(name: "Content-Type", value: settings.contentType)
    }
    self.headers = headers
    method = HTTPMethod(rawValue: settings.method.rawValue)
    trust = settings.authorities.map { .authorities(file: $0) } ?? .system
  }

  private static func url(_ value: ConfiguredValue) throws(NotifierProblem) -> HTTPURL {
    let text = try read(value)
    do throws(HTTPURLError) {
      return try HTTPURL(text)
    } catch {
      throw NotifierProblem(description: error.reason)
    }
  }

  private static func read(_ value: ConfiguredValue) throws(NotifierProblem) -> String {
    do throws(ConfiguredValueError) {
      return try value.read()
    } catch {
      throw NotifierProblem(description: error.description)
    }
  }

  /// To `url`, or to where its server has sent the client.
  func message(_ notification: Notification, picture: [UInt8]?, to url: HTTPURL) -> HTTPClientRequest {
    let escaping = NotificationTemplate.Escaping(contentType: headers.first(name: "Content-Type") ?? "")
    let body = settings.body.body(
      for: notification, child: child, date: Self.date(notification.time), escaping: escaping)
    var request = HTTPClientRequest(method, url, headers: headers, body: method == .GET ? [] : body)
    guard let picture else { return request }
    switch settings.picture {
    case .body(let textHeader):
      request.headers.replaceOrAdd(name: "Content-Type", value: "image/jpeg")
      request.headers.replaceOrAdd(name: textHeader, value: String(decoding: body, as: UTF8.self).asHeaderValue)
      request.body = picture
    case .field(let name):
      let form = MultipartForm(fields: body, file: picture, name: name)
      request.headers.replaceOrAdd(name: "Content-Type", value: form.contentType)
      request.body = form.body
    case nil: break
    }
    return request
  }

  /// RFC 3339, UTC. What was read from a file can be any number.
  private static func date(_ unixSeconds: Double) -> String {
    let seconds = unixSeconds.isFinite ? min(max(0, unixSeconds), 253_402_300_799) : 0
    return Date(timeIntervalSince1970: seconds).formatted(.iso8601)
  }
}
