internal import CSRTP
public import PeerConnection

/// SRTP and SRTCP of one peer over libsrtp, in both directions. RFC 3711, RFC 7714.
public final class SRTPSession: SRTPPort {
  /// How many packets behind the newest one a packet may arrive before it is rejected as a replay. A key frame at
  /// 2500 kbps is about 100 packets; its retransmissions arrive within a second. RFC 3711 section 3.3.2 asks for 64.
  static let replayWindow: UInt = 1024
  /// Each source costs memory, and a peer can use 2^32 of them.
  static let maximumRemoteSources = 256

  private let outbound: SRTPContext
  private let inbound: SRTPContext
  private var remoteSources: [UInt32] = []

  /// `OpenSSLTransports.prepare`.
  static func prepare() {
    _ = SRTPContext.started
  }

  /// - Throws: `SRTPError.malformed` when key and salt do not have the profile's lengths.
  public init(keys: SRTPKeys) throws(SRTPError) {
    outbound = try SRTPContext(profile: keys.profile, key: keys.local, direction: ssrc_any_outbound)
    inbound = try SRTPContext(profile: keys.profile, key: keys.remote, direction: ssrc_any_inbound)
  }

  public func protectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
    try packet.process(minimum: 12, room: Int(SRTP_MAX_TRAILER_LEN)) { srtp_protect(outbound.pointer, $0, &$1) }
  }

  public func protectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
    // The trailer also includes the 4-byte SRTCP index. RFC 3711 section 3.4.
    try packet.process(minimum: 8, room: Int(SRTP_MAX_TRAILER_LEN) + 4) { srtp_protect_rtcp(outbound.pointer, $0, &$1) }
  }

  public func unprotectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
    guard packet.count >= 12 else { throw .malformed }
    let source = try admit(packet[8..<12])
    try packet.process(minimum: 12, room: 0) { srtp_unprotect(inbound.pointer, $0, &$1) }
    remember(source)
  }

  public func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
    guard packet.count >= 8 else { throw .malformed }
    let source = try admit(packet[4..<8])
    try packet.process(minimum: 8, room: 0) { srtp_unprotect_rtcp(inbound.pointer, $0, &$1) }
    remember(source)
  }

  private func admit(_ bytes: ArraySlice<UInt8>) throws(SRTPError) -> UInt32 {
    let source = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard remoteSources.count < Self.maximumRemoteSources || remoteSources.contains(source) else {
      throw .other(Int32(srtp_err_status_no_ctx.rawValue))
    }
    return source
  }

  /// Called only after authentication, so that nobody but the peer can exhaust the limit.
  private func remember(_ source: UInt32) {
    if !remoteSources.contains(source) { remoteSources.append(source) }
  }
}

/// Owns the `srtp_t` of one direction.
private struct SRTPContext: ~Copyable {
  let pointer: srtp_t

  static let started: srtp_err_status_t = {
    for step in [csrtp_keep_crypto_loaded, srtp_init, OpenSSLGCM.install] {
      let status = step()
      if status != srtp_err_status_ok { return status }
    }
    return srtp_err_status_ok
  }()

  init(profile: SRTPProfile, key: [UInt8], direction: srtp_ssrc_type_t) throws(SRTPError) {
    guard Self.started == srtp_err_status_ok else { throw SRTPError(Self.started) }
    guard key.count == profile.keyLength + profile.saltLength else { throw .malformed }
    var policy = srtp_policy_t()
    switch profile {
    case .aeadAES128GCM:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aes128CMHMACSHA1_80:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    }
    policy.ssrc.type = direction
    policy.window_size = SRTPSession.replayWindow
    // A peer without RTX asks for the same packet again. RFC 4588 section 3 discusses the reasons; the plaintext is the
    // same, so sending it twice reveals nothing.
    policy.allow_repeat_tx = 1
    var key = key
    var made: srtp_t?
    let status = key.withUnsafeMutableBufferPointer { buffer in
      policy.key = buffer.baseAddress
      return srtp_create(&made, &policy)
    }
    guard status == srtp_err_status_ok, let made else { throw SRTPError(status) }
    pointer = made
  }

  deinit {
    srtp_dealloc(pointer)
  }
}

extension SRTPError {
  fileprivate init(_ status: srtp_err_status_t) {
    switch status {
    case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: self = .authenticationFailed
    case srtp_err_status_replay_fail, srtp_err_status_replay_old: self = .replayed
    case srtp_err_status_bad_param, srtp_err_status_parse_err: self = .malformed
    default: self = .other(Int32(status.rawValue))
    }
  }
}

extension [UInt8] {
  /// Lets libsrtp work in place, with `room` spare bytes at the end. On failure the packet has its old length, but its
  /// bytes must not be used.
  fileprivate mutating func process(
    minimum: Int, room: Int, _ body: (UnsafeMutableRawPointer, inout Int32) -> srtp_err_status_t
  ) throws(SRTPError) {
    let original = count
    guard original >= minimum, original <= 65535 - room else { throw .malformed }
    var length = Int32(original)
    append(contentsOf: repeatElement(0, count: room))
    let status = withUnsafeMutableBytes { buffer in
      // The buffer cannot be empty, so it has an address.
      buffer.baseAddress.map { body($0, &length) } ?? srtp_err_status_bad_param
    }
    guard status == srtp_err_status_ok, length >= 0, length <= original + room else {
      removeLast(count - original)
      throw SRTPError(status)
    }
    removeLast(count - Int(length))
  }
}
