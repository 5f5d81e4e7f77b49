import COpenSSL
import Glibc
import TestSupport
import Wire

@testable import SecureTransport

/// A client and a server whose bytes go back and forth at once.
final class TLSPair {
  struct Side {
    let connection: TLSConnection
    var applicationProtocol: String?
    var isEstablished = false
    var plaintext: [UInt8] = []
    /// How often plaintext was handed over.
    var pieces = 0
    var isClosed = false
    var failure: TLSFailure?
    /// What it has given to the network so far.
    var sent: [UInt8] = []
  }

  var client: Side
  var server: Side
  /// How many bytes arrive at once; nil: all.
  var pieceSize: Int?

  init(client: TLSContext? = nil, server: TLSContext? = nil, name: TLSConnection.ServerName = .name("localhost")) throws
  {
    self.client = Side(connection: try TLSConnection(client: client ?? .trusting(), of: name))
    self.server = Side(connection: try TLSConnection(server: server ?? .shared()))
  }

  func start() {
    server.connection.start()
    client.connection.start()
  }

  /// Until both have nothing more to say.
  func run() {
    while true {
      let toServer = client.connection.takeCiphertext()
      client.sent += toServer
      deliver(toServer, to: &server)
      let toClient = server.connection.takeCiphertext()
      server.sent += toClient
      deliver(toClient, to: &client)
      if toServer.isEmpty, toClient.isEmpty { return }
    }
  }

  func connect() {
    start()
    run()
  }

  func deliver(_ bytes: [UInt8], to side: inout Side) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(pieceSize ?? rest.count)
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { side.connection.receive($0) }
      Self.collect(&side)
    }
    Self.collect(&side)
  }

  static func collect(_ side: inout Side) {
    while let event = side.connection.poll() {
      switch event {
      case .established(let applicationProtocol):
        side.isEstablished = true
        side.applicationProtocol = applicationProtocol
      case .applicationData(let bytes):
        side.plaintext += bytes
        side.pieces += 1
      case .closed: side.isClosed = true
      case .failed(let failure): side.failure = failure
      }
    }
  }
}

extension TLSConnection {
  func send(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { send($0) }
  }

  func receive(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { receive($0) }
  }
}

extension TLSContext {
  static let identity = PrivateKey.generate()

  /// A server's, with a self-signed certificate.
  static func shared() throws -> TLSContext {
    try TLSContext(key: identity, certificate: Certificate(key: identity))
  }

  /// A client's that accepts any certificate.
  static func trusting() throws -> TLSContext {
    try TLSContext(trust: .judged { _ in true })
  }

  /// The same context, with one version alone, such as TLS1_2_VERSION.
  func only(_ version: Int32) -> TLSContext {
    precondition(copenssl_set_only_version(pointer, version) == 1)
    return self
  }
}

/// OpenSSL's own client, which does what ours cannot be made to do.
final class RawClient {
  let ssl: OpaquePointer
  private let context: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer

  /// - Parameter prepare: sets up the SSL_CTX.
  init(version: Int32, prepare: (OpaquePointer) -> Void = { _ in }) throws {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw OpenSSLQueue.error("SSL_CTX_new") }
    precondition(copenssl_set_only_version(context, version) == 1)
    prepare(context)
    guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      throw OpenSSLQueue.error("SSL_new")
    }
    SSL_set_bio(ssl, input, output)
    SSL_set_connect_state(ssl)
    (self.context, self.ssl, self.input, self.output) = (context, ssl, input, output)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  func takeOutput() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = BIO_read(output, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(Int(max(0, count))))
  }

  func receive(_ bytes: [UInt8]) {
    if !bytes.isEmpty { _ = BIO_write(input, bytes, Int32(bytes.count)) }
  }

  /// Whether the handshake with a server of ours succeeds.
  func connect(to server: inout TLSPair.Side) -> Bool {
    server.connection.start()
    for _ in 0..<4 {
      let result = SSL_do_handshake(ssl)
      server.connection.receive(takeOutput())
      TLSPair.collect(&server)
      if result == 1, server.isEstablished { return true }
      receive(server.connection.takeCiphertext())
    }
    return false
  }
}

/// A certificate authority with files in a folder of its own.
final class TestAuthority {
  let folder: String
  let key = PrivateKey.generate()

  init() throws {
    var template = Array("/tmp/cradle-ca-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SecureError.file(path: "/tmp", reason: "mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    _ = try issue("ca", extensions: [(NID_basic_constraints, "critical,CA:TRUE")], key: key)
  }

  deinit {
    for name in written { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private var written: Set<String> = []

  var file: String { "\(folder)/ca" }

  /// A client's context that trusts this authority alone.
  func client() throws -> TLSContext {
    try TLSContext(trust: .system, authorities: file)
  }

  /// A server's context with a certificate of this authority, from an hour ago until `end` seconds from now.
  func server(_ alternativeNames: String, end: Int = 3600) throws -> TLSContext {
    let key = PrivateKey.generate()
    let certificate = try issue(
      "leaf", extensions: [(NID_subject_alt_name, alternativeNames)], key: key, end: end)
    return try TLSContext(certificateFile: certificate, keyFile: write("key", key.pem))
  }

  func write(_ name: String, _ text: String) throws -> String {
    let path = "\(folder)/\(name)"
    guard let file = fopen(path, "w") else { throw SecureError.file(path: path, reason: "fopen") }
    fputs(text, file)
    fclose(file)
    written.insert(name)
    return path
  }

  /// Writes a certificate over `key`, signed by the authority.
  func issue(
    _ name: String, extensions: [(Int32, String)], key: PrivateKey, end: Int = 3600
  ) throws -> String {
    let certificate = try CertificateHandle()
    let pointer = certificate.pointer
    var done: [Bool] = []
    done.append(X509_set_version(pointer, 2) == 1)
    done.append(ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), .random(in: 1...1 << 60)) == 1)
    done.append(X509_gmtime_adj(X509_getm_notBefore(pointer), -7200) != nil)
    done.append(X509_gmtime_adj(X509_getm_notAfter(pointer), end) != nil)
    for (entry, text) in [(X509_get_subject_name(pointer), name), (X509_get_issuer_name(pointer), "ca")] {
      let bytes = Array(text.utf8)
      done.append(X509_NAME_add_entry_by_txt(entry, "CN", MBSTRING_ASC, bytes, Int32(bytes.count), -1, 0) == 1)
    }
    done.append(key.withPointer { X509_set_pubkey(pointer, $0) } == 1)
    for (nid, value) in extensions { done.append(copenssl_add_extension(pointer, pointer, nid, value) == 1) }
    done.append(self.key.withPointer { X509_sign(pointer, $0, EVP_sha256()) } > 0)
    guard done.allSatisfy(\.self) else { throw OpenSSLQueue.error("a certificate") }
    let buffer = MemoryBIO()
    guard PEM_write_bio_X509(buffer.pointer, pointer) == 1 else { throw OpenSSLQueue.error("PEM") }
    return try write(name, buffer.text)
  }
}
