internal import Notifications
internal import Server
internal import Signaling
internal import Wire

/// Whom a notifier notifies.
protocol NotifierDestination: Sendable {
  /// For commands and the log.
  var name: String { get }
  /// What it wants to receive.
  var filter: NotificationFilter { get }
  /// Whether a picture of the room goes along.
  var wantsPicture: Bool { get }
  /// For one delivery.
  func request() throws(NotifierProblem) -> any NotifierRequest
  /// What came of a try, for whoever the address belongs to.
  func words(for outcome: DeliveryOutcome) -> String
}

extension NotifierDestination {
  var wantsPicture: Bool { false }

  func words(for outcome: DeliveryOutcome) -> String { outcome.words }
}

/// How one notification becomes an HTTP request.
protocol NotifierRequest {
  var url: HTTPURL { get }
  var trust: HTTPTrust { get }
  /// Which addresses may be connected to; nil: any.
  var mayReach: (@Sendable (IPAddress) -> Bool)? { get }
  /// To `url`, or to where its server has sent the client.
  ///
  /// - Parameter picture: JPEG.
  func message(_ notification: Notification, picture: [UInt8]?, to url: HTTPURL) -> HTTPClientRequest
}

/// Why a request cannot be made. Never repeats a secret.
struct NotifierProblem: Error, CustomStringConvertible {
  let description: String
}
