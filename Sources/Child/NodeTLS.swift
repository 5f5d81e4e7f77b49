internal import NIOSSL
internal import Secure
internal import Storage

/// TLS of the one HTTPS port.
enum NodeTLS {
  /// - Parameter files: the family's own certificate and key (PEM); nil: self-signed over the identity key.
  static func context(
    _ files: ChildConfiguration.TLSFiles?, identity: NodeIdentity, certificate: NodeCertificate
  ) throws(NodeError) -> NIOSSLContext {
    do {
      var configuration: TLSConfiguration
      if let files {
        try PrivateFileError.checkSharedKey(files.key)
        configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
      } else {
        configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))],
          privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.pem.utf8), format: .pem)))
      }
      configuration.minimumTLSVersion = .tlsv12
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .tls("\(error)")
    }
  }
}
