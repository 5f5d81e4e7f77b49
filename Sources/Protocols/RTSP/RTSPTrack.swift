/// What a player may have. The SDP of RFC 2326 appendix C names it.
public struct RTSPTrack: Hashable, Sendable {
  public enum Media: Hashable, Sendable {
    case vp8
    case h264
    case opus
    /// G.711 µ-law.
    case pcmu
  }

  public var media: Media
  public var ssrc: UInt32

  public init(_ media: Media, ssrc: UInt32) {
    self.media = media
    self.ssrc = ssrc
  }

  public var isPicture: Bool { media == .vp8 || media == .h264 }

  /// RFC 3551 section 6: that of PCMU is fixed.
  public var payloadType: UInt8 {
    switch media {
    case .vp8: 96
    case .h264: 98
    case .opus: 97
    case .pcmu: 0
    }
  }

  /// Of RTP timestamps, a second.
  public var clockRate: Int {
    switch media {
    case .vp8, .h264: 90_000
    case .opus: 48_000
    case .pcmu: 8000
    }
  }

  /// RFC 7741 section 6, RFC 6184 section 8.2.1, RFC 7587 section 7, RFC 3551 section 6. H.264's parameter sets come with each key
  /// frame.
  var lines: [String] {
    switch media {
    case .vp8: ["m=video 0 RTP/AVP 96", "a=rtpmap:96 VP8/90000"]
    case .h264:
      [
        "m=video 0 RTP/AVP 98", "a=rtpmap:98 H264/90000",
        "a=fmtp:98 packetization-mode=1;profile-level-id=42e01f",
      ]
    case .opus: ["m=audio 0 RTP/AVP 97", "a=rtpmap:97 opus/48000/2", "a=fmtp:97 sprop-stereo=0"]
    case .pcmu: ["m=audio 0 RTP/AVP 0", "a=rtpmap:0 PCMU/8000"]
    }
  }
}
