internal import JSON
public import Signaling
internal import Wire

/// How a child tells a push service who it is: the same sender as the one that the browser subscribed to. RFC 8292.
public enum VAPID {
  /// A token is good for this long; at most a day is allowed (section 2). In seconds.
  static let lifetime: Int64 = 12 * 3600

  /// The value of `Authorization`. RFC 8292 sections 2 and 3.
  ///
  /// - Parameters:
  ///   - origin: of the push service.
  ///   - contact: a `mailto:` or `https:` URI at which the operator of the push service finds somebody.
  ///   - unixTime: seconds since 1970-01-01 UTC.
  public static func authorization(
    for origin: HTTPOrigin, contact: String, unixTime: Int64, signer: some VAPIDSigner
  ) -> String {
    let signed = signedPart(for: origin, contact: contact, expiresAt: unixTime &+ lifetime)
    let signature = Base64URL.encode(signer.sign(Array(signed.utf8)))
    return "vapid t=\(signed).\(signature), k=\(Base64URL.encode(signer.publicKey))"
  }

  /// Header and claims of the JWT, RFC 7519 section 3.
  public static func signedPart(for origin: HTTPOrigin, contact: String, expiresAt: Int64) -> String {
    let header = #"{"typ":"JWT","alg":"ES256"}"#
    let claims = #"{"aud":\#(JSON.quoted(origin.description)),"exp":\#(expiresAt),"sub":\#(JSON.quoted(contact))}"#
    return Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
  }

  /// Whether somebody can be found there: a contact whose host is a name that can exist on the Internet. Apple's push service
  /// refuses others (403 BadJwtToken), Google's and Mozilla's take them. RFC 6761, RFC 6762.
  public static func isReachable(_ contact: String) -> Bool {
    guard isContact(contact) else { return false }
    let host: Substring
    if contact.hasPrefix("mailto:") {
      host = contact[contact.index(after: contact.lastIndex(of: "@") ?? contact.startIndex)...].prefix { $0 != "?" }
    } else {
      guard case .name(let name)? = (try? HTTPURL(contact))?.origin.host else { return false }
      host = name[...]
    }
    // Before the host of `mailto:` there is no query.
    guard contact.hasPrefix("https://") || !contact.prefix(while: { $0 != "@" }).contains("?") else { return false }
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    let local: Set<Substring> = [
      "invalid", "local", "test", "localhost", "example", "internal", "home", "lan", "arpa", "onion", "localdomain",
      "alt",
    ]
    guard labels.count > 1, labels.allSatisfy(isLabel), let last = labels.last else { return false }
    // A last label that begins with a digit makes an address of it: https://url.spec.whatwg.org, "ends in a number".
    return !local.contains(last) && last.first?.isLetter == true
  }

  /// RFC 1123 section 2.1.
  private static func isLabel(_ label: Substring) -> Bool {
    (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
      && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }

  /// Whether push services take it as a contact: RFC 8292 section 2.1.
  public static func isContact(_ text: String) -> Bool {
    guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (33...126).contains($0) }) else { return false }
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
      return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    }
    return text.hasPrefix("https://") && (try? HTTPURL(text)) != nil
  }
}
