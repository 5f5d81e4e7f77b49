/// Where and for whom a browser wants alarms to be pushed, in place of an earlier subscription of the caller's pair. What it
/// means is for the shell to check.
public struct PushSubscribe: ControlCommand {
  public static let name = "push.subscribe"
  public static let requirement: Requirement = .watching
  public static let parameters: [ControlParameter] = [
    .text("endpoint", bytes: ControlLimits.pushEndpointBytes, missing: missing),
    .text("p256dh", bytes: ControlLimits.pushKeyBytes, missing: missing),
    .text("auth", bytes: ControlLimits.pushKeyBytes, missing: missing),
    .text("contact", bytes: ControlLimits.pushContactBytes), .list("kinds", of: EventKind.allCases.map(\.rawValue)),
  ]
  private static let missing = "is missing; the browser's subscription has it"

  /// The push service's address for this browser.
  public var endpoint: String
  /// The browser's public key, base64url.
  public var p256dh: String
  /// The secret that browser and child share, base64url.
  public var auth: String
  /// Nil: the usual ones.
  public var kinds: Set<EventKind>?
  /// Where the push service finds somebody, `mailto:` or `https:`; needed where the child has none.
  public var contact: String?

  public init(
    endpoint: String, p256dh: String, auth: String, kinds: Set<EventKind>? = nil, contact: String? = nil
  ) {
    self.contact = contact
    self.endpoint = endpoint
    self.p256dh = p256dh
    self.auth = auth
    self.kinds = kinds
  }
}
