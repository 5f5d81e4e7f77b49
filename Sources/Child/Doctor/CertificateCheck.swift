internal import Health
internal import Storage

/// The certificate of the HTTPS port: the family's own files, or what the node's root is for.
enum CertificateCheck {
  /// Empty where nothing can be said.
  ///
  /// - Parameter report: the running daemon's.
  static func run(_ configuration: ChildConfiguration, report: CertificateReport?) -> [Finding] {
    let what = "certificate"
    if let files = configuration.tls {
      var finding = ReadinessCheck.certificate(files)
      finding.what = what
      finding.detail = "\(files.certificate): \(finding.detail)"
      return [finding]
    }
    guard let root = report?.root else { return [] }
    guard root.missing.isEmpty else {
      return [
        Finding(
          what, .warning,
          "the root certificate is for \(root.hosts.joined(separator: ", ")), not for \(root.missing.joined(separator: ", ")): "
            + "phones that have it installed warn there",
          remedy: "sudo cradle-child certificate renew, then install it on the phones again; pairs stay")
      ]
    }
    return [Finding(what, .ok, "the root certificate is for \(root.hosts.joined(separator: ", "))")]
  }
}
