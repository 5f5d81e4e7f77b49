internal import Identity
internal import NIOSSL
internal import SecureTransport
internal import Server
internal import Storage

/// TLS for the HTTPS port.
enum NodeTLS {
  /// - Parameter files: the family's own certificate and key (PEM); nil: self-signed with the identity key.
  static func context(
    _ files: ChildConfiguration.TLSFiles?, identity: NodeIdentity, certificate: Certificate
  ) throws(NodeError) -> NIOSSLContext {
    if let files { return try context(files) }
    return try context {
      TLSConfiguration.makeServerConfiguration(
        certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))],
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.pem.utf8), format: .pem)))
    }
  }

  /// Uses the family's own files. Refuses a key that others can read or that does not belong to the certificate.
  static func context(_ files: ChildConfiguration.TLSFiles) throws(NodeError) -> NIOSSLContext {
    try context {
      try PrivateFileError.checkSharedKey(files.key)
      return TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
    }
  }

  private static func context(_ make: () throws -> TLSConfiguration) throws(NodeError) -> NIOSSLContext {
    do {
      var configuration = try make()
      configuration.restrictToForwardSecrecy()
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .tls("\(error)")
    }
  }
}
