internal import PeerConnection
internal import Pipelines
internal import RTPReceiving
internal import SDP

/// The media that a parent offers to receive and to send.
enum MediaPlan {
  /// MID, transport-wide feedback, and the times of sending and capture.
  private static let extensions = [
    RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
    RTPHeaderExtensionURI.absCaptureTime,
  ]
  /// And how long pictures may wait.
  private static let videoExtensions = extensions + [RTPHeaderExtensionURI.playoutDelay]

  /// The parent's voice only.
  static var talking: PeerConnectionConfiguration {
    var random = SystemRandomNumberGenerator()
    let voice = LocalMedia(
      kind: .audio, direction: .sendOnly, codecs: [.opus, .opusRED], headerExtensions: extensions,
      ssrc: .random(in: 1...UInt32.max, using: &random), cname: String(random.next(), radix: 36), streamID: "voice",
      trackID: "microphone")
    return PeerConnectionConfiguration(media: [voice])
  }

  /// - Parameters:
  ///   - mayTalk: the section of the sound is for the parent's voice as well.
  ///   - steadyDelay: that the sound has at least.
  static func configuration(
    wantsVideo: Bool, wantsAudio: Bool, mayTalk: Bool = false, steadyDelay: Duration = .zero
  ) -> PeerConnectionConfiguration {
    var random = SystemRandomNumberGenerator()
    let cname = String(random.next(), radix: 36)
    var media: [LocalMedia] = []
    if wantsVideo {
      media.append(
        LocalMedia(
          kind: .video, direction: .receiveOnly, codecs: [.vp8, .rtx], headerExtensions: videoExtensions,
          ssrc: .random(in: 1...UInt32.max, using: &random), cname: cname, streamID: "-", trackID: "video"))
    }
    if wantsAudio {
      media.append(
        LocalMedia(
          kind: .audio, direction: mayTalk ? .sendReceive : .receiveOnly, codecs: [.opus, .opusRED],
          headerExtensions: extensions, ssrc: .random(in: 1...UInt32.max, using: &random), cname: cname,
          streamID: mayTalk ? "voice" : "-", trackID: mayTalk ? "microphone" : "audio"))
    }
    var configuration = PeerConnectionConfiguration(media: media)
    // Delays are multiples of a packet's 20 ms, as the stock is: without the rest, fractions of a millisecond would decide
    // whether a packet is early enough or wakes the loop once more.
    configuration.receivedAudio.earliness = AudioPlayer.stock + .milliseconds(4)
    configuration.steadyDelay = steadyDelay
    return configuration
  }
}
