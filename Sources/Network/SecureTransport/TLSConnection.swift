internal import COpenSSL
public import Wire

/// One TLS connection over a stream, as server or as client: bytes go in and out, and nothing is done by itself. Used
/// from one thread at a time. RFC 8446, RFC 5246.
///
/// After each call, send `takeCiphertext` and poll the events. Whatever the peer sends leads to an event, never to a
/// trap; nothing follows `closed` or `failed`.
public final class TLSConnection {
  /// A server as a client calls it.
  public enum ServerName: Hashable, Sendable {
    /// A DNS name without a trailing dot; sent as SNI (RFC 6066 section 3).
    case name(String)
    /// Not sent: SNI has names only.
    case address(IPAddress)
  }

  public enum Event: Hashable, Sendable {
    /// The handshake is complete: `send` works. The protocol agreed on by ALPN, if any.
    case established(applicationProtocol: String?)
    /// Never empty.
    case applicationData([UInt8])
    /// The peer has said that nothing more follows (close_notify), or we had, and the connection has ended.
    case closed
    case failed(TLSFailure)
  }

  private enum State {
    case idle
    case handshaking
    case established
    /// Our close_notify has been made; the peer's is awaited, and what it still sends is dropped.
    case closing
    case ended
  }

  private let ssl: StreamSSL
  private var state = State.idle
  private var events = FIFO<Event>()
  /// How many of the stream's first two bytes have come.
  private var checked = 0

  /// The server's end; begins with `start`.
  ///
  /// - Throws: `SecureError.openSSL` when there is no memory.
  public init(server context: TLSContext) throws(SecureError) {
    guard case .server = context.side else { preconditionFailure("a server needs a server's context") }
    ssl = try StreamSSL(context: context, trust: nil)
    SSL_set_accept_state(ssl.pointer)
  }

  /// The client's end; begins with `start`.
  ///
  /// - Parameter server: what `TLSTrust.system` finds in the server's certificate.
  /// - Throws: `SecureError.invalidName` for a name that no server can have, or `.openSSL`.
  public init(client context: TLSContext, of server: ServerName) throws(SecureError) {
    guard case .client(let trust) = context.side else { preconditionFailure("a client needs a client's context") }
    ssl = try StreamSSL(context: context, trust: trust)
    SSL_set_connect_state(ssl.pointer)
    switch server {
    case .name(let name):
      SSL_set_hostflags(ssl.pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      guard (1...253).contains(name.utf8.count), !name.utf8.contains(0),
        copenssl_set_server_name(ssl.pointer, name) == 1, SSL_set1_host(ssl.pointer, name) == 1
      else { throw .invalidName(name) }
    case .address(let address):
      let bytes = address.bytes
      guard X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl.pointer), bytes, bytes.count) == 1 else {
        throw OpenSSLQueue.error("X509_VERIFY_PARAM_set1_ip")
      }
    }
  }

  /// The client's first message; a server waits.
  public func start() {
    guard case .idle = state else { return }
    state = .handshaking
    advance(room: 0)
  }

  /// Bytes from the network, as they come.
  public func receive(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .idle, .ended: return
    case .handshaking, .established, .closing: break
    }
    guard isTLS(bytes) else { return fail(.notTLS) }
    // All that these bytes can complete: OpenSSL holds at most one record's beginning. RFC 8446 section 5.1.
    ssl.stream.read(bytes) { advance(room: bytes.count + 16384) }
  }

  /// The network's end of the stream.
  public func receiveEnd() {
    switch state {
    case .handshaking: fail(.endedDuringHandshake)
    case .established: fail(.truncated)
    case .closing: end(.closed)
    case .idle, .ended: break
    }
  }

  /// Plaintext for the peer; ignored unless established.
  public func send(_ bytes: UnsafeRawBufferPointer) {
    guard case .established = state, !bytes.isEmpty else { return }
    OpenSSLQueue.clear()
    var written = 0
    // The stream takes everything, so that OpenSSL writes all or fails.
    if SSL_write_ex(ssl.pointer, bytes.baseAddress, bytes.count, &written) != 1 { fail(reason()) }
  }

  /// Says goodbye; `closed` follows when the peer has, too. Without an established connection it ends without a word
  /// and without an event.
  public func close() {
    switch state {
    case .established:
      sendCloseNotify()
      state = .closing
    case .idle, .handshaking: state = .ended
    case .closing, .ended: break
    }
  }

  /// What is to be sent to the network, in order; empty when there is nothing.
  public func takeCiphertext() -> [UInt8] {
    ssl.stream.takeOutgoing()
  }

  /// The next event, if any.
  public func poll() -> Event? {
    events.popFirst()
  }

  // MARK: - Driving OpenSSL

  /// Handshake (22) or alert (21), then the version's first byte. Told here, because OpenSSL's errors for it differ
  /// from version to version.
  private func isTLS(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for byte in bytes.prefix(2 - checked) {
      guard checked == 0 ? byte == 22 || byte == 21 : byte == 3 else { return false }
      checked += 1
    }
    return true
  }

  private func advance(room: Int) {
    if case .handshaking = state {
      OpenSSLQueue.clear()
      let result = SSL_do_handshake(ssl.pointer)
      if result == 1 {
        state = .established
        ssl.stream.isEstablished = true
        events.append(.established(applicationProtocol: applicationProtocol()))
      } else if !isWaiting(SSL_get_error(ssl.pointer, result)) {
        return fail(ssl.stream.refusal ?? reason())
      }
    }
    switch state {
    case .established, .closing: read(room: room)
    case .idle, .handshaking, .ended: break
    }
  }

  private func isWaiting(_ code: Int32) -> Bool {
    code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE
  }

  private func applicationProtocol() -> String? {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl.pointer, &name, &length)
    return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
  }

  private func read(room: Int) {
    while true {
      var code = SSL_ERROR_NONE
      let plaintext = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        while count < room {
          OpenSSLQueue.clear()
          var length = 0
          let result = SSL_read_ex(ssl.pointer, start + count, room - count, &length)
          guard result == 1 else {
            code = SSL_get_error(ssl.pointer, result)
            return
          }
          count += length
        }
      }
      if !plaintext.isEmpty, case .established = state { events.append(.applicationData(plaintext)) }
      switch code {
      case SSL_ERROR_NONE:
        if room == 0 { return }
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
        return
      case SSL_ERROR_ZERO_RETURN:
        if case .established = state { sendCloseNotify() }
        return end(.closed)
      default:
        if case .closing = state { return end(.closed) }
        return fail(reason())
      }
    }
  }

  private func reason() -> TLSFailure {
    if ssl.stream.isFlooded { return .failed("too many messages of the handshake protocol after the handshake") }
    return .failed(OpenSSLQueue.takeFirstReason() ?? "no reason given")
  }

  private func sendCloseNotify() {
    OpenSSLQueue.clear()
    _ = SSL_shutdown(ssl.pointer)
    // Alerts leave a buffer for a whole record behind, unlike data: for thousands of connections at once, when a server stops.
    SSL_free_buffers(ssl.pointer)
    OpenSSLQueue.clear()
  }

  private func fail(_ failure: TLSFailure) {
    end(.failed(failure))
  }

  private func end(_ event: Event) {
    OpenSSLQueue.clear()
    if case .ended = state { return }
    state = .ended
    events.append(event)
  }
}

/// Owns an `SSL` and the BIO that it reads and writes.
private struct StreamSSL: ~Copyable {
  let pointer: OpaquePointer
  /// Freed after deinit's body, so it outlives the callbacks.
  let stream: StreamBIO

  init(context: TLSContext, trust: TLSTrust?) throws(SecureError) {
    OpenSSLQueue.clear()
    guard let ssl = SSL_new(context.pointer) else { throw OpenSSLQueue.error("SSL_new") }
    let stream = StreamBIO(trust: trust)
    guard stream.attach(to: ssl) else {
      SSL_free(ssl)
      throw OpenSSLQueue.error("BIO_new")
    }
    pointer = ssl
    self.stream = stream
  }

  deinit {
    SSL_free(pointer)
  }
}
