internal import Pairing
internal import SDP

/// The tracks a viewer may have, as local media of a peer connection.
enum MediaOffer {
  /// Header extensions: media section of a packet, feedback on every packet, and send time.
  private static let extensions = [
    RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
  ]
  /// Lets us ask browsers for a short playout delay, which matters more for a baby monitor than smooth motion.
  private static let videoExtensions = extensions + [RTPHeaderExtensionURI.playoutDelay]

  /// Media with fresh SSRCs for one viewer, limited to its permissions. Each track has its own stream: within one
  /// stream, browsers delay the picture until the sound has caught up, and a sleeping child needs no lip sync.
  static func media(for permissions: Permissions, camera: String) -> [LocalMedia] {
    var random = SystemRandomNumberGenerator()
    let cname = String(random.next(), radix: 36)
    var media: [LocalMedia] = []
    if permissions.contains(.view) {
      media.append(
        LocalMedia(
          kind: .video, direction: .sendOnly, codecs: [.vp8, .h264, .rtx], headerExtensions: videoExtensions,
          ssrc: ssrc(&random), rtxSSRC: ssrc(&random), cname: cname, streamID: "picture", trackID: camera))
    }
    // The viewer talks in the same section.
    let direction: MediaDirection? =
      switch (permissions.contains(.listen), permissions.contains(.talk)) {
      case (true, true): .sendReceive
      case (true, false): .sendOnly
      case (false, true): .receiveOnly
      case (false, false): nil
      }
    if let direction {
      media.append(
        LocalMedia(
          kind: .audio, direction: direction, codecs: [.opus, .opusRED], headerExtensions: extensions,
          ssrc: ssrc(&random), cname: cname, streamID: "sound", trackID: "microphone"))
    }
    return media
  }

  /// Not 0, which some receivers treat as "none".
  private static func ssrc(_ random: inout SystemRandomNumberGenerator) -> UInt32 {
    .random(in: 1...UInt32.max, using: &random)
  }
}
