internal import COpenSSL
public import PeerConnection
public import Wire

/// One DTLS 1.2 association over OpenSSL (RFC 6347) that exports SRTP keys (RFC 5764). Used from one thread at a time.
/// Whatever the peer sends leads to an output, never to a trap; nothing follows `failed` or `closed`.
public final class DTLSConnection: DTLSPort {
  /// The largest handshake datagram, as UDP payload in bytes: known to fit every path that browsers use.
  public static let mtu = 1200

  private enum State {
    case idle
    /// As the server, `giveUp` is nil until the first datagram.
    case handshaking(role: DTLSRole, giveUp: Instant?)
    case connected
    case ended
  }

  private let ssl: SSLHandle
  private let timer: any OpenSSLTimer
  private var state = State.idle
  /// When to retransmit the last flight.
  private var retransmission: Instant?
  /// One record's plaintext, RFC 6347 section 4.1.
  private var plaintext = [UInt8](repeating: 0, count: 16384)

  /// How long a handshake may take: from `start` as the client, from the first datagram as the server.
  private static let giveUp: Duration = .seconds(30)

  init(context: DTLSContext, timer: any OpenSSLTimer) throws(SecureError) {
    ssl = try SSLHandle(context: context, timer: timer, mtu: Self.mtu)
    self.timer = timer
  }

  public func start(role: DTLSRole, now: Instant) {
    guard case .idle = state else { return }
    switch role {
    case .client:
      SSL_set_connect_state(ssl.pointer)
      state = .handshaking(role: role, giveUp: now + Self.giveUp)
    case .server:
      SSL_set_accept_state(ssl.pointer)
      state = .handshaking(role: role, giveUp: nil)
    }
    advance(now: now)
  }

  public func handle(datagram: [UInt8], now: Instant) {
    var datagram = datagram
    switch state {
    case .idle, .ended: return
    case .handshaking(let role, nil): state = .handshaking(role: role, giveUp: now + Self.giveUp)
    case .handshaking: break
    case .connected: datagram = filter.admit(datagram)
    }
    guard !datagram.isEmpty else { return }
    ssl.datagrams.incoming = datagram
    advance(now: now)
    ssl.datagrams.incoming = []
  }

  public func handleTimeout(now: Instant) {
    guard case .handshaking(_, let giveUp) = state else { return }
    if let giveUp, now >= giveUp {
      fail("no answer to the handshake for \(Self.giveUp)")
      return
    }
    guard let retransmission, now >= retransmission else { return }
    OpenSSLQueue.clear()
    timer.waitIsOver { .microseconds(copenssl_timeout_left(ssl.pointer)) }
    let result = copenssl_handle_timeout(ssl.pointer)
    if result < 0 {
      fail(OpenSSLQueue.takeReason())
    } else {
      if result == 0 {
        // OpenSSL's clock is slightly behind ours: ask again once it has caught up.
        self.retransmission = now + max(.milliseconds(1), .microseconds(copenssl_timeout_left(ssl.pointer)))
      }
      updateTimer(now: now)
    }
  }

  public func send(_ message: [UInt8]) {
    guard case .connected = state, (1...16384).contains(message.count) else { return }
    OpenSSLQueue.clear()
    let written = SSL_write(ssl.pointer, message, Int32(message.count))
    if written <= 0 { fail(OpenSSLQueue.takeReason()) }
  }

  public func close() {
    if case .connected = state { sendCloseNotify() }
    end()
  }

  public func poll() -> DTLSOutput? {
    ssl.datagrams.takeOutput()
  }

  public var nextDeadline: Instant? {
    guard case .handshaking(_, let giveUp) = state else { return nil }
    switch (retransmission, giveUp) {
    case (let retransmission?, let giveUp?): return min(retransmission, giveUp)
    case (let one, let other): return one ?? other
    }
  }

  // MARK: - Driving OpenSSL

  private func advance(now: Instant) {
    if case .handshaking(let role, _) = state {
      OpenSSLQueue.clear()
      let result = SSL_do_handshake(ssl.pointer)
      if result == 1 {
        finishHandshake(role: role)
      } else if !isWaiting(result) {
        fail(OpenSSLQueue.takeReason())
      }
    }
    if case .connected = state { read() }
    updateTimer(now: now)
  }

  private func isWaiting(_ result: Int32) -> Bool {
    switch SSL_get_error(ssl.pointer, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: true
    default: false
    }
  }

  private func finishHandshake(role: DTLSRole) {
    guard let peer = SSL_get1_peer_certificate(ssl.pointer) else {
      fail("the peer showed no certificate")
      return
    }
    let digest = CertificateHandle(adopting: peer).sha256()
    guard digest.count == 32 else {
      fail("the peer's certificate has no digest")
      return
    }
    var keys: SRTPKeys?
    if let selected = SSL_get_selected_srtp_profile(ssl.pointer) {
      guard let profile = UInt16(exactly: selected.pointee.id).flatMap(SRTPProfile.init),
        let exported = exportKeys(profile: profile, role: role)
      else {
        fail("no SRTP keys: \(OpenSSLQueue.takeReason())")
        return
      }
      keys = exported
    }
    state = .connected
    ssl.datagrams.emit(.connected(keys: keys, peerCertificateSHA256: digest))
  }

  /// Client key, server key, client salt, server salt. RFC 5764 section 4.2.
  private func exportKeys(profile: SRTPProfile, role: DTLSRole) -> SRTPKeys? {
    let (key, salt) = (profile.keyLength, profile.saltLength)
    var material = [UInt8](repeating: 0, count: 2 * (key + salt))
    let label = "EXTRACTOR-dtls_srtp"
    guard
      SSL_export_keying_material(ssl.pointer, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
    else { return nil }
    let client = Array(material[..<key] + material[2 * key..<2 * key + salt])
    let server = Array(material[key..<2 * key] + material[(2 * key + salt)...])
    return switch role {
    case .client: SRTPKeys(profile: profile, local: client, remote: server)
    case .server: SRTPKeys(profile: profile, local: server, remote: client)
    }
  }

  /// For the cipher in use; covers both kinds that we offer.
  private var filter: DTLSRecordFilter {
    let cipher = SSL_CIPHER_get_cipher_nid(SSL_get_current_cipher(ssl.pointer))
    return DTLSRecordFilter(overhead: cipher == NID_chacha20_poly1305 ? 16 : 24)
  }

  private func read() {
    while true {
      OpenSSLQueue.clear()
      let count = SSL_read(ssl.pointer, &plaintext, Int32(plaintext.count))
      if count > 0 {
        ssl.datagrams.emit(.applicationData(Array(plaintext.prefix(Int(count)))))
        continue
      }
      switch SSL_get_error(ssl.pointer, count) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
      case SSL_ERROR_ZERO_RETURN:
        // RFC 5246 section 7.2.1: answer close_notify with close_notify.
        sendCloseNotify()
        ssl.datagrams.emit(.closed)
        end()
        return
      default:
        fail(OpenSSLQueue.takeReason())
        return
      }
    }
  }

  private func sendCloseNotify() {
    OpenSSLQueue.clear()
    _ = SSL_shutdown(ssl.pointer)
    OpenSSLQueue.clear()
  }

  private func fail(_ reason: String) {
    if case .ended = state { return }
    ssl.datagrams.emit(.failed(reason))
    end()
  }

  private func end() {
    OpenSSLQueue.clear()
    state = .ended
    retransmission = nil
  }

  // MARK: - The retransmission timer

  private func updateTimer(now: Instant) {
    guard case .handshaking = state, copenssl_timeout_left(ssl.pointer) >= 0 else {
      retransmission = nil
      return
    }
    if ssl.datagrams.timerWasSet || retransmission == nil {
      retransmission = now + (ssl.datagrams.wait ?? DatagramBIO.firstRetransmission)
    }
    ssl.datagrams.timerWasSet = false
  }
}
