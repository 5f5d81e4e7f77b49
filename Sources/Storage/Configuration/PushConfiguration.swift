internal import DeviceNames
internal import WebPush

extension ChildConfiguration {
  /// `push`: alarms to the browsers that ask for them.
  public struct Push: Sendable, Hashable {
    /// Where a push service's operator finds somebody: `mailto:` or `https:`, RFC 8292 section 2.1.
    /// Nil: whoever has alarms pushed gives one. There is none that would do for everybody.
    public var contact: String?
    /// One was given that no push service can reach, and Apple's refuses; it is as if there were none.
    public var isContactUnreachable = false
    /// The push service may be in a private network.
    public var mayBePrivate = false
    /// A PEM file with CAs in place of the machine's.
    public var authorities: String?

    public init() {}
  }

  static func push(_ top: ConfigurationSection) -> Push {
    var result = Push()
    guard let entry = top.section("push", keys: ["contact", "private-networks", "ca"]) else { return result }
    let what = "mailto: with an address, or https://"
    let contact = entry.text("contact", what: what, isAllowed: VAPID.isContact)
    result.contact = contact.flatMap { VAPID.isReachable($0) ? $0 : nil }
    result.isContactUnreachable = contact != nil && result.contact == nil
    result.mayBePrivate = entry.boolean("private-networks", default: result.mayBePrivate)
    result.authorities = entry.text("ca", what: "a PEM file", isAllowed: \.isPlainPath)
    return result
  }
}
