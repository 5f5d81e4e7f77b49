internal import Frames
internal import Identity
internal import NIOHTTP1
internal import Notifications
internal import Server
internal import Signaling
internal import Storage
internal import Synchronization
internal import WebPush
internal import Wire

/// A paired browser, by way of its push service.
final class BrowserDestination: NotifierDestination {
  /// The same for all browsers.
  struct Sender: Sendable {
    /// The child's name.
    let child: String
    let settings: ChildConfiguration.Push
    let key: PushKey
    /// Where no push service is.
    let house: HouseAddresses
  }

  private struct Current {
    var stored: StoredSubscription
    /// Where the last request went.
    var asked: PushEndpoint?
  }

  let name: String
  private let sender: Sender
  private let current: Mutex<Current>

  /// - Parameter name: of the pair.
  init(_ stored: StoredSubscription, name: String, sender: Sender) {
    self.name = name
    self.sender = sender
    current = Mutex(Current(stored: stored))
  }

  var stored: StoredSubscription {
    get { current.withLock(\.stored) }
    set { current.withLock { $0.stored = newValue } }
  }

  var filter: NotificationFilter { .pushed(stored.kinds) }

  /// The subscription that the last request was for is still the browser's.
  var isAsked: Bool { current.withLock { $0.asked == $0.stored.subscription.endpoint } }

  /// Of a service that nobody knows only whether it took the message: else whoever is paired could try out what answers at
  /// which address, seen from here.
  func words(for outcome: DeliveryOutcome) -> String {
    let maker = stored.subscription.endpoint.maker
    guard maker != nil || sender.settings.mayBePrivate else {
      return switch outcome {
      case .status where outcome.isDelivered: "the push service took it"
      case .status, .refused: "the push service refused it"
      case .failed: "the push service could not be reached"
      }
    }
    let name = maker.map { "\($0)’s push service" } ?? "the push service"
    return switch outcome {
    case .status(let status, _, let reason): "\(name) answered \(status)" + (reason.map { " \($0)" } ?? "")
    case .failed(let reason), .refused(let reason): "\(name): \(reason)"
    }
  }

  func request() throws(NotifierProblem) -> any NotifierRequest {
    let stored = current.withLock { current in
      current.asked = current.stored.subscription.endpoint
      return current.stored
    }
    return BrowserRequest(
      subscription: stored.subscription,
      // Of browsers that subscribed to a version that asked for no contact: Google's and Mozilla's services take it, Apple's
      // does not, and never did.
      contact: stored.contact ?? sender.settings.contact ?? ChildConfiguration.Push.earlierContact,
      sender: sender)
  }
}

private struct BrowserRequest: NotifierRequest {
  let subscription: PushSubscription
  let contact: String
  let sender: BrowserDestination.Sender

  var url: HTTPURL { subscription.endpoint.url }
  var trust: HTTPTrust { sender.settings.authorities.map { .authorities(file: $0) } ?? .system }
  /// The address was named by a browser: it must not lead to the machines of the house.
  var mayReach: (@Sendable (IPAddress) -> Bool)? {
    if sender.settings.mayBePrivate { return nil }
    return { [house = sender.house] address in address.isPublic && !house.contains(address) }
  }

  func message(_ notification: Notification, picture: [UInt8]?, to url: HTTPURL) -> HTTPClientRequest {
    var generator = SystemRandomNumberGenerator()
    while true {
      // Only a private key of zero gives no request, and the subscription's key was checked.
      guard
        let request = PushRequest(
          notification, child: sender.child, to: subscription, contact: contact,
          unixTime: MonotonicClock.unixSeconds, random: PushRandom(using: &generator),
          signer: sender.key, crypto: WebPushPrimitives())
      else { continue }
      return HTTPClientRequest(
        .POST, url, headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) }), body: request.body)
    }
  }
}
