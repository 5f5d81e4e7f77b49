internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import SDP

/// Which tracks a viewer may have, in the terms of offer and answer.
enum MediaOffer {
  /// Header extensions that help a viewer: which section a packet is of, feedback on every packet, and when it was sent.
  private static let extensions = [
    RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
  ]
  /// Lets us ask browsers to show pictures without smoothing: small delay counts more in a nursery than even motion.
  private static let videoExtensions = extensions + [RTPHeaderExtensionURI.playoutDelay]

  /// Fresh SSRCs for one viewer, each track in a stream of its own: within one stream browsers hold the picture back until
  /// the sound has caught up, and a sleeping child shows no lips to be in step with. Nothing of a kind that the viewer has
  /// no permission for.
  static func media(for permissions: Permissions, camera: String) -> [LocalMedia] {
    var random = SystemRandomNumberGenerator()
    let cname = String(random.next(), radix: 36)
    var media: [LocalMedia] = []
    if permissions.contains(.view) {
      media.append(
        LocalMedia(
          kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: videoExtensions,
          ssrc: ssrc(&random), rtxSSRC: ssrc(&random), cname: cname, streamID: "picture", trackID: camera))
    }
    // Who may talk is heard in the same section.
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
          kind: .audio, direction: direction, codecs: [.opus], headerExtensions: extensions, ssrc: ssrc(&random),
          cname: cname, streamID: "sound", trackID: "microphone"))
    }
    return media
  }

  /// Not 0, which some receivers take for "none".
  private static func ssrc(_ random: inout SystemRandomNumberGenerator) -> UInt32 {
    .random(in: 1...UInt32.max, using: &random)
  }
}
