public import PeerConnection
public import RTP
internal import RTPSending
internal import SDP
public import Wire

// One encoded frame or packet for one peer. Who has many peers packetizes once and calls `send(_:kind:mediaTime:…)` for each.
extension PeerConnection {
  /// Sends one VP8 frame as the encoder made it (RFC 6386). Does nothing unless the connection is up and the peer receives
  /// pictures.
  ///
  /// - Parameters:
  ///   - frame: with the header of RFC 6386 section 9.1.
  ///   - packetizer: counts the frames of one encoder; keep it with that.
  ///   - mediaTime: at 90 kHz; nil: follows from `captureTime`.
  ///   - captureTime: when the frame was captured.
  ///   - now: the time of the call.
  public func sendVP8(
    _ frame: [UInt8], packetizer: inout VP8Packetizer, mediaTime: UInt32? = nil, captureTime: Instant, now: Instant
  ) {
    guard let first = frame.first else { return }
    // RFC 6386 section 9.1: the lowest bit is 0 in key frames.
    let isKeyFrame = first & 1 == 0
    let payloads = packetizer.packetize(
      frame, isKeyFrame: isKeyFrame, maximumPayloadSize: RTPSenderConfiguration.recommendedPayloadSize)
    send(
      payloads, kind: .video, mediaTime: mediaTime ?? captureTime.mediaTime(hertz: 90_000), captureTime: captureTime,
      isKeyFrame: isKeyFrame, now: now)
  }

  /// Sends one Opus packet (RFC 6716). Does nothing unless the connection is up and the peer receives sound.
  ///
  /// - Parameters:
  ///   - packet: at most 120 ms.
  ///   - mediaTime: of its first sample, at 48 kHz: each packet's is that of the one before and the samples of that, 960 for
  ///     20 ms. Capture times are not regular enough.
  ///   - captureTime: when its first sample was captured.
  ///   - now: the time of the call.
  public func sendOpus(_ packet: [UInt8], mediaTime: UInt32, captureTime: Instant, now: Instant) {
    guard !packet.isEmpty else { return }
    send([packet], kind: .audio, mediaTime: mediaTime, captureTime: captureTime, now: now)
  }
}

extension Instant {
  /// RTP's 32 bits of it, which wrap around.
  fileprivate func mediaTime(hertz: Int64) -> UInt32 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt32(truncatingIfNeeded: seconds &* hertz &+ rest * hertz / 1_000_000_000)
  }
}
