internal import Frames
public import PeerConnection
internal import SDP
public import SecureTransport
public import Wire

extension PeerConnection {
  /// A peer connection for anybody: VP8 and Opus with what recovers them from loss, random SSRCs and ICE credentials, a
  /// certificate of its own, and a cautious first estimate of the path.
  ///
  /// ```swift
  /// let peer = try PeerConnection.make(audio: .sendReceive, video: .sendReceive)
  /// peer.addLocalCandidate(socketAddress, now: MonotonicClock.now)
  /// let answer = try peer.answer(SessionDescription(parsing: offer), now: MonotonicClock.now)
  /// ```
  ///
  /// - Parameters:
  ///   - audio: what to do with sound; nil: there is none. An offer has a section for it; an answer takes what the offer has.
  ///   - video: the same for a picture.
  ///   - transports: the certificate that the peer gets to see; nil: a new one. A server with many peers makes one for all.
  ///   - now: on the time line of all later calls.
  ///   - configure: changes the defaults, such as `$0.iceTransportPolicy = .relay`.
  /// - Throws: `SecureError.openSSL` when OpenSSL refuses to make a certificate.
  public static func make(
    audio: MediaDirection? = nil, video: MediaDirection? = nil, transports: OpenSSLTransports? = nil,
    now: Instant = MonotonicClock.now, configure: (inout PeerConnectionConfiguration) -> Void = { _ in }
  ) throws(SecureError) -> PeerConnection {
    let secure = if let transports { transports } else { try OpenSSLTransports() }
    var configuration = PeerConnectionConfiguration(media: LocalMedia.tracks(audio: audio, video: video))
    // Nobody knows what is on the way: a little at first, and no bursts.
    configuration.sending.startBitrateKbps = 400
    configuration.sending.leastPacingKbps = 4000
    configure(&configuration)
    return PeerConnection(
      configuration: configuration, secure: secure, hashes: CryptoHashes(), random: SystemRandomNumberGenerator(),
      wallClock: WallClockReference(instant: now, unixNanoseconds: MonotonicClock.unixNanoseconds))
  }
}

extension LocalMedia {
  /// One track of each kind, in one stream: receivers play both in step (RFC 8830).
  fileprivate static func tracks(audio: MediaDirection?, video: MediaDirection?) -> [LocalMedia] {
    var random = SystemRandomNumberGenerator()
    // RFC 7022 section 4.2: a short-term persistent CNAME.
    let cname = String(random.next(), radix: 36)
    let extensions = [
      RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
      RTPHeaderExtensionURI.absCaptureTime,
    ]
    func track(_ kind: MediaKind, _ direction: MediaDirection, _ codecs: [RTPCodec], isRepaired: Bool) -> LocalMedia {
      // Not 0, which some receivers treat as "none".
      LocalMedia(
        kind: kind, direction: direction, codecs: codecs, headerExtensions: extensions,
        ssrc: .random(in: 1...UInt32.max, using: &random),
        rtxSSRC: isRepaired ? .random(in: 1...UInt32.max, using: &random) : nil, cname: cname, streamID: cname,
        trackID: kind == .audio ? "audio" : "video")
    }
    var tracks: [LocalMedia] = []
    if let audio { tracks.append(track(.audio, audio, [.opus, .opusRED], isRepaired: false)) }
    if let video { tracks.append(track(.video, video, [.vp8, .rtx], isRepaired: true)) }
    return tracks
  }
}
