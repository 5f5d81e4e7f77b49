internal import SecureTransport
internal import Storage

/// TLS for the HTTPS port with the family's own files.
enum NodeTLS {
  /// Refuses a key that others can read or that does not belong to the certificate.
  static func context(_ files: ChildConfiguration.TLSFiles) throws(NodeError) -> TLSContext {
    do {
      try PrivateFileError.checkSharedKey(files.key)
      return try TLSContext(certificateFile: files.certificate, keyFile: files.key)
    } catch {
      throw .tls("\(error)")
    }
  }
}
