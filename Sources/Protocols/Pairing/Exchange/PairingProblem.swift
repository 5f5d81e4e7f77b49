internal import JSON
internal import Wire

/// The refusals of `POST /pair` as `application/problem+json` (RFC 9457). `type` identifies the kind for programs;
/// `triesLeft` and `retryAfterSeconds` are extension members (section 3.2).
public struct PairingProblem: Hashable, Sendable {
  public static let contentType = "application/problem+json"

  public let status: Int
  public let body: [UInt8]
  /// For `Retry-After`; whole seconds, rounded up. RFC 9110 section 10.2.3.
  public let retryAfterSeconds: Int?

  public init(_ refusal: PairingRefusal) {
    var members: [String: JSON] = [:]
    var seconds: Int?
    let kind: Kind
    switch refusal {
    case .windowClosed: kind = .windowClosed
    case .unknownLink: kind = .unknownLink
    case .unknownSession: kind = .unknownSession
    case .alreadyPaired: kind = .alreadyPaired
    case .wrongCode(let left):
      kind = .wrongCode
      members["triesLeft"] = .number(Double(left))
    case .tooManyTries(let wait):
      kind = .tooManyTries
      let whole = Int(clamping: max(0, wait.nanoseconds).advanced(by: 999_999_999) / 1_000_000_000)
      members["retryAfterSeconds"] = .number(Double(whole))
      seconds = whole
    case .badMessage: kind = .badMessage
    }
    var detail = kind.detail
    if case .badMessage(let rule) = refusal { detail += ": \(rule)" }
    members["type"] = .string(Self.prefix + kind.rawValue)
    members["status"] = .number(Double(kind.status))
    members["detail"] = .string(detail)
    status = kind.status
    body = Array(JSON.object(members).text.utf8)
    retryAfterSeconds = seconds
  }

  /// Parses a refusal of the child; nil if the body is something else, such as a proxy's error.
  public static func refusal(_ body: [UInt8]) -> PairingRefusal? {
    guard let fields = try? PairingFields(body), let type = fields.string("type"), type.hasPrefix(prefix),
      let kind = Kind(rawValue: String(type.dropFirst(prefix.count)))
    else { return nil }
    switch kind {
    case .windowClosed: return .windowClosed
    case .unknownLink: return .unknownLink
    case .unknownSession: return .unknownSession
    case .alreadyPaired: return .alreadyPaired
    case .wrongCode: return .wrongCode(triesLeft: (try? fields.number("triesLeft", 0...100)) ?? 0)
    case .tooManyTries:
      return .tooManyTries(retryAfter: .seconds((try? fields.number("retryAfterSeconds", 0...3600)) ?? 1))
    case .badMessage:
      return .badMessage(PairName.cleaned(fields.string("detail") ?? "", fallback: kind.detail))
    }
  }

  private static let prefix = "urn:cradle:pairing:"

  private enum Kind: String {
    case windowClosed = "window-closed"
    case unknownLink = "unknown-link"
    case unknownSession = "unknown-session"
    case alreadyPaired = "already-paired"
    case wrongCode = "wrong-code"
    case tooManyTries = "too-many-tries"
    case badMessage = "bad-message"

    /// interfaces/wire.md, "On the wire". Never 401, which would call for an HTTP authentication scheme.
    var status: Int {
      switch self {
      case .windowClosed, .alreadyPaired: 409
      case .unknownLink, .wrongCode: 403
      case .unknownSession: 404
      case .tooManyTries: 429
      case .badMessage: 400
      }
    }

    var detail: String {
      switch self {
      case .windowClosed: "pairing is closed; open it with “cradle-child pair”"
      case .unknownLink: "this link was used, has expired or never existed; ask for a new one"
      case .unknownSession: "this pairing has ended; start again"
      case .alreadyPaired:
        "this device is paired already, and this link would take from it what it may do; remove that pairing first, or ask "
          + "for a link that allows at least as much for at least as long"
      case .wrongCode: "the code is wrong"
      case .tooManyTries: "too many tries; wait a moment"
      case .badMessage: "this is not a pairing message"
      }
    }
  }
}
