internal import Logging
internal import SecureTransport
internal import Storage

/// The certificates for browsers that the node has issued, the one in use first, kept in `certificate.pem`.
///
/// A browser's exception and a player's fingerprint are for one certificate. So it stays over restarts, and where a name, an
/// address or a date was wrong for a while, the certificate of before comes back with the right one.
struct IssuedCertificates {
  private var certificates: [Certificate]
  private let file: AtomicFile
  private let key: PrivateKey
  private let logger: Logger

  static let maximum = 4
  private static let maximumBytes = 64 * 1024

  /// Reads the file. What cannot be used is logged, and replaced by the next certificate.
  ///
  /// - Parameter key: the node's, which all of them are over.
  init(_ file: AtomicFile, key: PrivateKey, logger: Logger) {
    self.file = file
    self.key = key
    self.logger = logger
    certificates = []
    do {
      guard let bytes = try file.read(maximum: Self.maximumBytes) else { return }
      let text = String(decoding: bytes, as: UTF8.self)
      certificates = try Certificate.all(inPEM: text, maximum: Self.maximum).filter { $0.certifies(key) }
      let count = Certificate.count(inPEM: text)
      if count > Self.maximum {
        logger.warning(
          "certificate.pem has more certificates than this baby unit keeps; the first of them stay",
          metadata: ["file": "\(file.path)", "certificates": "\(count)", "kept": "\(certificates.count)"])
        store()
      }
      if certificates.isEmpty { warn("it is over another key than this baby unit's") }
    } catch {
      warn("\(error)")
    }
  }

  private func warn(_ reason: String) {
    logger.warning(
      "the stored certificate for browsers cannot be used, so another is made; browsers warn once more",
      metadata: ["file": "\(file.path)", "reason": "\(reason)"])
  }

  /// Whether there is any, of this start or an earlier one.
  var isEmpty: Bool { certificates.isEmpty }

  /// The one for these hosts: a kept one where one fits, else a new one, issued by the root where it permits one of them and
  /// self-signed otherwise, so that it is never without names.
  ///
  /// By the root it is for all that the root permits: addresses that come and go do not change it.
  ///
  /// - Parameter date: seconds since 1970; nil: unknown.
  mutating func certificate(
    for hosts: NodeHosts, root: NodeCertificate?, date: Int64?
  ) throws(SecureError) -> (certificate: Certificate, isNew: Bool) {
    let issuer = root.flatMap { $0.permitsAny(of: hosts) ? $0 : nil }
    if let index = certificates.firstIndex(where: { Self.fits($0, hosts, issuer, key, date) }) {
      let known = certificates.remove(at: index)
      certificates.insert(known, at: 0)
      if index > 0 { store() }
      return (known, false)
    }
    let validity = NodeCertificate.validity(at: date)
    let made =
      if let issuer {
        try issuer.issue(for: key, validity: validity)
      } else {
        try Certificate(
          key: key, names: hosts.names.isEmpty ? ["localhost"] : hosts.names, addresses: hosts.addresses,
          validity: validity)
      }
    certificates = [made] + certificates.prefix(Self.maximum - 1)
    store()
    return (made, true)
  }

  private static func fits(
    _ certificate: Certificate, _ hosts: NodeHosts, _ issuer: NodeCertificate?, _ key: PrivateKey, _ date: Int64?
  ) -> Bool {
    let permitted = issuer?.permitted(of: hosts) ?? hosts
    return NodeCertificate.isTimely(certificate.validity, at: date)
      && permitted.names.allSatisfy { certificate.isFor(name: $0) }
      && permitted.addresses.allSatisfy { certificate.isFor(address: $0) }
      && (issuer?.hasIssued(certificate) ?? certificate.isSigned(by: key))
  }

  private func store() {
    do throws(FileError) {
      try file.replace(Array(certificates.map(\.pem).joined().utf8))
    } catch {
      logger.warning(
        "the certificate for browsers could not be stored; browsers warn again after a restart",
        metadata: ["reason": "\(error)"])
    }
  }
}
