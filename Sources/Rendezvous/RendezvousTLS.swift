internal import Identity
internal import SecureTransport
internal import Storage
internal import Wire

/// The server's certificate and key.
enum RendezvousTLS {
  /// - Returns: the digest of the key where no authority vouches for it, in hexadecimal digits.
  static func context(
    _ configuration: RendezvousConfiguration, stateDirectory: String
  ) throws -> (TLSContext, keySHA256: String?) {
    if let files = configuration.tls {
      do {
        return (try context(files), nil)
      } catch {
        throw RendezvousError("the certificate cannot be used: \(error)")
      }
    }
    let identity = try identity(in: stateDirectory)
    let hosts = configuration.names.map { IPAddress($0) }
    let certificate = try Certificate(
      key: identity.key, names: zip(configuration.names, hosts).filter { $0.1 == nil }.map(\.0),
      addresses: hosts.compactMap(\.self))
    let digest = CryptoHashes().sha256(identity.publicKeySPKI)
    return (try TLSContext(key: identity.key, certificate: certificate), digest.hexadecimal())
  }

  /// With the configured files. Refuses a key that others can read.
  static func context(_ files: ChildConfiguration.TLSFiles) throws -> TLSContext {
    try PrivateFileError.checkSharedKey(files.key)
    return try TLSContext(certificateFile: files.certificate, keyFile: files.key)
  }

  /// The server's own key; made with the first start.
  private static func identity(in directory: String) throws -> NodeIdentity {
    try StateDirectory.makeDirectory(directory)
    let file = AtomicFile(path: "\(directory)/rendezvous.pem")
    guard let bytes = try file.read(maximum: 64 * 1024) else {
      let identity = NodeIdentity.generate()
      try file.write(Array(identity.pem.utf8))
      return identity
    }
    do {
      return try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw RendezvousError("\(file.path) holds no key (\(error)); it was left as it is. Restore it, or move it away")
    }
  }
}
