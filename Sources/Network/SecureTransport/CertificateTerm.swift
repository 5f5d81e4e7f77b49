/// Whether a certificate is good on a date, for people.
public enum CertificateTerm: Hashable, Sendable, CustomStringConvertible {
  /// It begins in so many days: the machine's clock is wrong, or the certificate's issuer's.
  case notYet(days: Int64)
  case good(days: Int64)
  /// It expires within `warningDays`.
  case expiring(days: Int64)
  case expired(days: Int64)

  /// Time to renew it, when whatever does so by itself has failed.
  public static let warningDays: Int64 = 14

  /// - Parameters:
  ///   - validity: notBefore and notAfter, seconds since 1970.
  ///   - now: the same.
  public init(_ validity: ClosedRange<Int64>, now: Int64) {
    let days = (validity.upperBound - now) / 86_400
    self =
      if now < validity.lowerBound {
        .notYet(days: (validity.lowerBound - now) / 86_400 + 1)
      } else if now > validity.upperBound {
        .expired(days: -days)
      } else if validity.upperBound - now > Self.warningDays * 86_400 {
        .good(days: days)
      } else {
        .expiring(days: days)
      }
  }

  /// Clients refuse it.
  public var isOver: Bool {
    switch self {
    case .notYet, .expired: true
    case .good, .expiring: false
    }
  }

  /// Clients refuse it soon.
  public var isExpiring: Bool {
    if case .expiring = self { true } else { false }
  }

  /// `expires in 12 days`
  public var description: String {
    switch self {
    case .notYet(let days): "is not valid yet, only in \(Self.text(days))"
    case .good(let days), .expiring(let days): days == 0 ? "expires within a day" : "expires in \(Self.text(days))"
    case .expired(let days): days == 0 ? "has expired within the last day" : "expired \(Self.text(days)) ago"
    }
  }

  private static func text(_ days: Int64) -> String { days == 1 ? "1 day" : "\(days) days" }
}
