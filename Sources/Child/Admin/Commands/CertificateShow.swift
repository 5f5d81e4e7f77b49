public import Control
public import FoundationEssentials

/// `cradle-child certificate`
public struct CertificateShow: DaemonCommand {
  public typealias Reply = CertificateReport

  public static let name = "certificate"
  public static let parameters: [ControlParameter] = [.flag("renew")]

  /// Makes a new root certificate first.
  public var renew: Bool?

  public init(renew: Bool? = nil) {
    self.renew = renew
  }
}

/// `certificate --json`: what browsers are shown at the HTTPS port.
public struct CertificateReport: ControlReply {
  /// The configured one; nil: it is of the node's own.
  public var file: String?
  /// What phones can install; nil with a configured certificate.
  public var root: Root?
  /// SHA-256 of the certificate itself, `AB:CD:…`, for players that are given it.
  public var fingerprint: String?
  /// The present names and addresses of this machine.
  public var hosts: [String]
  public var validFrom: Date?
  public var validUntil: Date?

  public struct Root: Codable, Hashable, Sendable {
    /// SHA-256, `AB:CD:…`
    public var fingerprint: String
    /// What it may vouch for.
    public var hosts: [String]
    /// Present names and addresses that it may not vouch for: a phone that has it installed warns there.
    public var missing: [String]
  }
}
