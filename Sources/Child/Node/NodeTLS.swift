internal import Identity
internal import SecureTransport
internal import Server
internal import Storage

/// TLS for the HTTPS port.
enum NodeTLS {
  /// - Parameter files: the family's own certificate and key (PEM); nil: `certificate`, over the identity key.
  static func context(
    _ files: ChildConfiguration.TLSFiles?, identity: NodeIdentity, certificate: Certificate
  ) throws(NodeError) -> TLSContext {
    if let files { return try context(files) }
    return try context { try TLSContext(key: identity.key, certificate: certificate) }
  }

  /// Uses the family's own files. Refuses a key that others can read or that does not belong to the certificate.
  static func context(_ files: ChildConfiguration.TLSFiles) throws(NodeError) -> TLSContext {
    try context {
      try PrivateFileError.checkSharedKey(files.key)
      return try TLSContext(certificateFile: files.certificate, keyFile: files.key)
    }
  }

  private static func context(_ make: () throws -> TLSContext) throws(NodeError) -> TLSContext {
    do {
      return try make()
    } catch {
      throw .tls("\(error)")
    }
  }
}
