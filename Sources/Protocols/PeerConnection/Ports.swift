public import Wire

/// SRTP protection profiles that we offer, in our order of preference. RFC 5764 section 4.1.2, RFC 7714 section 14.2.
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
  case aeadAES128GCM = 0x0007
  case aes128CMHMACSHA1_80 = 0x0001

  /// Bytes of one side's master key.
  public var keyLength: Int { 16 }
  /// Bytes of one side's master salt.
  public var saltLength: Int {
    switch self {
    case .aeadAES128GCM: 12
    case .aes128CMHMACSHA1_80: 14
    }
  }
}

/// Which end of the DTLS handshake we are: `client` sends ClientHello (`a=setup:active`). RFC 8842 section 5.
public enum DTLSRole: Sendable, Hashable {
  case client
  case server
}

/// The SRTP keys from the DTLS handshake: each direction's master key followed by its master salt, already assigned by
/// our role (RFC 5764 section 4.2).
public struct SRTPKeys: Sendable, Hashable {
  public var profile: SRTPProfile
  /// Master key and salt for what we send.
  public var local: [UInt8]
  /// Master key and salt for what the peer sends.
  public var remote: [UInt8]

  public init(profile: SRTPProfile, local: [UInt8], remote: [UInt8]) {
    self.profile = profile
    self.local = local
    self.remote = remote
  }
}

/// Actions and events from the DTLS port, in order.
public enum DTLSOutput: Sendable {
  /// One datagram, to be sent as is.
  case transmit([UInt8])
  /// The handshake is complete. `peerCertificateSHA256` is the digest over the peer's DER certificate (32 bytes); the
  /// caller compares it with the signalled fingerprint before it accepts any data.
  case connected(keys: SRTPKeys?, peerCertificateSHA256: [UInt8])
  /// One message from the peer (one SCTP packet), decrypted.
  case applicationData([UInt8])
  /// The peer sent close_notify.
  case closed
  /// The handshake or the connection failed for good; the text is for a log.
  case failed(String)
}

/// One DTLS 1.2 association, driven from outside: datagrams and `now` in, outputs and the next deadline out.
/// Implemented over OpenSSL by `SecureTransport.DTLSConnection`, and by fakes in tests. Used from one thread at a time.
public protocol DTLSPort: AnyObject {
  /// Starts the handshake; as the client this queues ClientHello. Called once.
  func start(role: DTLSRole, now: Instant)
  /// Handles a datagram demultiplexed as DTLS (first byte 20...63, RFC 7983).
  func handle(datagram: [UInt8], now: Instant)
  /// Retransmits if the flight's timer has run out at `now`.
  func handleTimeout(now: Instant)
  /// Encrypts one message (one SCTP packet); queued as `transmit`. Ignored before `connected`.
  func send(_ message: [UInt8])
  /// Queues close_notify.
  func close()
  /// The next output; nil when there is none.
  func poll() -> DTLSOutput?
  /// When `handleTimeout` is due; nil while no timer runs.
  var nextDeadline: Instant? { get }
}

/// Why SRTP rejected a packet.
public enum SRTPError: Error, Hashable, Sendable {
  case authenticationFailed
  case replayed
  case malformed
  /// Anything else libsrtp reports, with its status code.
  case other(Int32)
}

/// SRTP and SRTCP for one peer, both directions. RFC 3711, RFC 7714. Used from one thread at a time.
public protocol SRTPPort: AnyObject {
  /// Encrypts an RTP packet in place and appends its tag.
  func protectRTP(_ packet: inout [UInt8]) throws(SRTPError)
  /// Encrypts a compound RTCP packet in place and appends index and tag.
  func protectRTCP(_ packet: inout [UInt8]) throws(SRTPError)
  /// Verifies and decrypts in place, and removes the tag.
  func unprotectRTP(_ packet: inout [UInt8]) throws(SRTPError)
  func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError)
}

/// Creates the secure transports of a new peer connection; implemented by the shell.
public protocol SecureTransports: Sendable {
  /// SHA-256 over our own DER certificate, for `a=fingerprint`.
  var certificateSHA256: [UInt8] { get }
  func makeDTLS() throws -> any DTLSPort
  func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort
}
