internal import Control
internal import Frames
internal import Logging
internal import PeerConnection
internal import Pipelines
internal import SDP
internal import Server
internal import VideoFormats
internal import Wire

extension Viewers: MediaReceiver {
  func send(_ frame: EncodedVideoFrame, fromCamera index: Int) {
    let track = cameras[index]
    if index == 0, frame.encoding == Self.recordedEncoding { recorded?(.video(frame)) }
    // 90 kHz, RFC 7741 section 4.1 and RFC 6184 section 5.1; nanoseconds * 9 / 100,000.
    let mediaTime = UInt32(truncatingIfNeeded: frame.captureTime.nanoseconds / 100_000 * 9)
    let payloads = track.packetize(frame)
    var receivers: [PeerID] = []
    for session in takers(of: frame, fromCamera: index) {
      guard let outlet = session.outlet else {
        receivers.append(session.peer)
        continue
      }
      if frame.temporalLayer == 0 || session.route.takesAllLayers { outlet.send(frame, payloads: payloads) }
    }
    hub.send(
      payloads, kind: .video, mediaTime: mediaTime, captureTime: frame.captureTime,
      temporalLayer: frame.temporalLayer, isKeyFrame: frame.isKeyFrame,
      source: index * Rendition.allCases.count + frame.rendition.rawValue, to: receivers)
  }

  /// The viewers whose route takes the picture.
  private func takers(of frame: EncodedVideoFrame, fromCamera index: Int) -> [ViewerSession] {
    var receivers: [ViewerSession] = []
    for session in watchers(of: index) where session.isConnected && session.codec == frame.codec {
      guard session.withheld == nil || session.withheld == .microphone else {
        session.route.forgetPictures()
        continue
      }
      let before = session.route.current
      guard session.route.accept(frame) else { continue }
      if session.route.current != before { applyLayers(to: session) }
      receivers.append(session)
    }
    return receivers
  }

  func send(_ packet: EncodedAudioPacket) {
    if packet.rendition == .full { recorded?(.audio(packet)) }
    var receivers: [PeerID] = []
    for session in registry.all where session.hears(.opus) {
      guard session.soundRoute.accept(packet), session.withheld == nil || session.withheld == .camera else { continue }
      if let outlet = session.outlet { outlet.send(packet) } else { receivers.append(session.peer) }
    }
    hub.send(
      [packet.data], kind: .audio, mediaTime: UInt32(truncatingIfNeeded: packet.samplePosition),
      captureTime: packet.captureTime, to: receivers)
  }

  func send(_ sound: ConvertedSound) {
    for session in registry.all where session.hears(sound.format) {
      guard session.withheld == nil || session.withheld == .camera else { continue }
      session.outlet?.send(sound)
    }
  }

  func levelMeasured() { registry.notify(.levelMeasured) }

  func framesDropped(fromCamera camera: Int, of encodings: Set<VideoEncoding>) {
    logger.warning(
      "the event loop was stalled and pictures were dropped",
      metadata: ["camera": "\(cameras[camera].pipeline.settings.cameraID)"])
    for encoding in encodings {
      cameras[camera].pipeline.requestKeyFrame(of: encoding.rendition, in: encoding.codec)
    }
  }
}
