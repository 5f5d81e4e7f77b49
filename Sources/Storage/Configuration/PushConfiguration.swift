internal import DeviceNames
internal import WebPush

extension ChildConfiguration {
  /// `push`: alarms to the browsers that ask for them.
  public struct Push: Sendable, Hashable {
    /// Where a push service's operator finds somebody: `mailto:` or `https:`, RFC 8292 section 2.1.
    /// Nil: whoever has alarms pushed gives one. There is none that would do for everybody.
    public var contact: String?
    /// It is `earlierContact`, which Apple's push service refuses; it is as if there were none.
    public var isContactUnreachable = false
    /// Stood in the child.yaml of earlier versions: an update must not keep a child from starting.
    public static let earlierContact = "mailto:push@cradle.invalid"
    /// The push service may be in a private network.
    public var mayBePrivate = false
    /// A PEM file with CAs in place of the machine's.
    public var authorities: String?

    public init() {}
  }

  static func push(_ top: ConfigurationSection) -> Push {
    var result = Push()
    guard let entry = top.section("push", keys: ["contact", "private-networks", "ca"]) else { return result }
    let what = "mailto: with an e-mail address on the Internet, or https:// with such a host name"
    let contact = entry.text("contact", what: what) { VAPID.isReachable($0) || $0 == Push.earlierContact }
    result.isContactUnreachable = contact == Push.earlierContact
    result.contact = result.isContactUnreachable ? nil : contact
    result.mayBePrivate = entry.boolean("private-networks", default: result.mayBePrivate)
    result.authorities = entry.text("ca", what: "a PEM file", isAllowed: \.isPlainPath)
    return result
  }
}
