internal import Control
internal import Devices
internal import Frames
internal import ICE
internal import Logging
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTP
internal import RTPSending
internal import SCTP
internal import SDP
internal import Server
internal import Signaling
internal import Wire

/// Everybody who watches: what they may have, what they get, what the encoder has to make for them.
///
/// `@unchecked Sendable` because it is confined to the hub's event loop.
final class Viewers: @unchecked Sendable {
  struct Settings: Sendable {
    var childName: String
    var childID: String
    var version: String
    var bitrateKbps: ClosedRange<Int>
    var startKbps: Int
  }

  let settings: Settings
  let hub: PeerHub
  /// In the configuration's order; may be empty.
  let cameras: [CameraTrack]
  let audio: AudioPipeline
  private let logger: Logger
  let started = MonotonicClock.now
  var table: [PeerID: Viewer] = [:]
  private var seconds: RepeatedTask?
  private var releases: RepeatedTask?
  private static let releaseInterval: TimeAmount = .seconds(30)
  /// Called when a viewer has gone, however it went.
  var onEnded: [(Viewer) -> Void] = []
  /// Called each second.
  var onSecond: () -> Void = {}
  /// Which camera is streamed to whoever does not choose.
  var activeCamera = 0

  /// What a viewer's connection tells, after what is done about it here.
  var onEvent: (PeerConnectionEvent, Viewer) -> Void = { _, _ in }
  /// The microphone's level was measured.
  var onLevel: () -> Void = {}

  init(settings: Settings, hub: PeerHub, cameras: [VideoPipeline], audio: AudioPipeline, logger: Logger) {
    self.settings = settings
    self.hub = hub
    self.cameras = cameras.map { pipeline in
      CameraTrack(
        pipeline: pipeline,
        allocation: RateAllocation(
          estimatesKbps: [], range: settings.bitrateKbps, startKbps: settings.startKbps))
    }
    self.audio = audio
    self.logger = logger
  }

  func start() {
    seconds = hub.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [weak self] _ in
      self?.updateErrorCorrection()
      self?.hub.setWallClock(MonotonicClock.wallClockReference)
      self?.onSecond()
    }
    // What only a command or a viewer that came and went needed.
    let interval = Self.releaseInterval
    releases = hub.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
      MemorySettings.releaseUnused()
    }
  }

  func stop() {
    seconds?.cancel()
    releases?.cancel()
  }

  // MARK: Coming and going

  /// The camera with this id; the first one without an id; nil when there is none of that id. With no camera at all
  /// any viewer gets index 0 and no picture.
  func cameraIndex(_ id: String?) -> Int? {
    guard let id else { return 0 }
    return cameras.firstIndex { $0.pipeline.settings.cameraID == id }
  }

  /// What a viewer's peer connection is made with.
  func peerConfiguration(permissions: Permissions, camera: Int) -> PeerConnectionConfiguration {
    var permissions = permissions
    if cameras.isEmpty { permissions.remove(.view) }
    if audio.device == .off { permissions.remove(.listen) }
    let cameraID = cameras.indices.contains(camera) ? cameras[camera].pipeline.settings.cameraID : ""
    var sending = RTPSenderConfiguration()
    sending.startBitrateKbps = settings.startKbps
    sending.maximumBitrateKbps = settings.bitrateKbps.upperBound * 2
    var configuration = PeerConnectionConfiguration(
      media: MediaOffer.media(for: permissions, camera: cameraID), sending: sending, playoutDelay: PlayoutDelay.live)
    configuration.sctp.expectedChannels = [
      DataChannelName(label: ControlLimits.channelLabel, protocolName: ControlLimits.protocolName)
    ]
    return configuration
  }

  func add(_ viewer: Viewer) {
    table[viewer.peer] = viewer
    logger.info("viewer is connecting", metadata: ["viewer": "\(viewer.name)", "peer": "\(viewer.peer)"])
    updateDemand()
  }

  /// Ends every session of a token, at once.
  func end(where matches: (Viewer) -> Bool) {
    for viewer in table.values where matches(viewer) { hub.close(viewer.peer) }
  }

  /// Ends a session that signalling has ended.
  func end(_ peer: PeerID, because reason: ByeReason) {
    guard let viewer = table[peer] else { return }
    logger.info("session is over", metadata: ["viewer": "\(viewer.name)", "because": "\(reason.rawValue)"])
    hub.close(peer)
  }

  func peer(ofSession session: String) -> PeerID? {
    table.values.first { $0.session == session }?.peer
  }

  func handle(_ event: PeerConnectionEvent, of peer: PeerID) {
    guard let viewer = table[peer] else { return }
    switch event {
    case .stateChanged(let state):
      stateChanged(state, of: viewer)
    case .keyFrameRequested:
      pipeline(of: viewer)?.requestKeyFrame()
    case .targetBitrateChanged(let kbps):
      table[peer]?.estimateKbps = kbps
      updateRates()
    case .dataChannelOpened, .dataChannelMessage, .dataChannelClosed, .resolve, .selectedPairChanged, .videoFrame,
      .audio, .mediaEnded:
      break
    }
    onEvent(event, viewer)
  }

  private func stateChanged(_ state: PeerConnectionState, of viewer: Viewer) {
    let peer = viewer.peer
    switch state {
    case .connected:
      let isNew = !viewer.isConnected
      table[peer]?.isConnected = true
      if isNew {
        if viewer.seesPicture { pipeline(of: viewer)?.requestKeyFrameAtOnce() }
        // The handshake is not needed again until the next viewer comes.
        releaseUnusedSoon()
      }
      logger.info(
        "viewer is connected",
        metadata: ["viewer": "\(viewer.name)", "path": "\(hub.connection(peer)?.selectedPair?.text ?? "")"])
      updateDemand()
    case .disconnected:
      logger.notice("the link to a viewer is weak", metadata: ["viewer": "\(viewer.name)"])
    case .failed, .closed:
      table[peer] = nil
      logger.info("viewer is gone", metadata: ["viewer": "\(viewer.name)", "how": "\(state.rawValue)"])
      updateDemand()
      updateRates()
      for tell in onEnded { tell(viewer) }
      if table.isEmpty { releaseUnusedSoon() }
    case .new, .connecting:
      break
    }
  }

  private func releaseUnusedSoon() {
    hub.eventLoop.scheduleTask(in: .seconds(5)) { MemorySettings.releaseUnused() }
  }

  /// Streams another camera to whoever watches the one that is streamed now; the stream goes on.
  func switchCamera(to index: Int) {
    for viewer in table.values where viewer.camera == activeCamera {
      table[viewer.peer]?.camera = index
      table[viewer.peer]?.awaitsKeyFrame = true
    }
    activeCamera = index
    updateDemand()
    updateRates()
    cameras[index].pipeline.requestKeyFrameAtOnce()
  }

  func pipeline(of viewer: Viewer) -> VideoPipeline? {
    cameras.indices.contains(viewer.camera) ? cameras[viewer.camera].pipeline : nil
  }

  // MARK: Media

  func send(_ frame: EncodedVideoFrame, fromCamera index: Int) {
    let track = cameras[index]
    // 90 kHz, RFC 7741 section 4.1; nanoseconds * 9 / 100,000.
    let mediaTime = UInt32(truncatingIfNeeded: frame.captureTime.nanoseconds / 100_000 * 9)
    hub.send(
      track.packetize(frame), kind: .video, mediaTime: mediaTime, captureTime: frame.captureTime,
      temporalLayer: frame.temporalLayer, isKeyFrame: frame.isKeyFrame
    ) { peer in
      guard let viewer = table[peer], viewer.isConnected, viewer.camera == index else { return false }
      if viewer.awaitsKeyFrame {
        guard frame.isKeyFrame else { return false }
        table[peer]?.awaitsKeyFrame = false
      }
      return true
    }
  }

  func send(_ packet: EncodedAudioPacket) {
    hub.send(
      [packet.data], kind: .audio, mediaTime: UInt32(truncatingIfNeeded: packet.samplePosition),
      captureTime: packet.captureTime)
  }

  private func watchers(of camera: Int) -> [Viewer] {
    table.values.filter { $0.camera == camera && $0.seesPicture }
  }

  private func updateDemand() {
    for (index, track) in cameras.enumerated() {
      let watching = watchers(of: index)
      track.pipeline.setDemand(capturing: !watching.isEmpty, encoding: watching.contains(where: \.isConnected))
    }
    audio.setDemand(table.values.contains { $0.isConnected && $0.hearsSound })
  }

  /// Sound carries error correction while a listener's path has lost something lately; where nothing is lost, its bits and
  /// its time are better spent.
  private func updateErrorCorrection() {
    let since = MonotonicClock.now - Self.lossMemory
    audio.setLossExpected(
      table.values.contains { viewer in
        guard viewer.hearsSound, let reported = hub.connection(viewer.peer)?.lossReportedAt else { return false }
        return reported > since
      })
  }

  private static let lossMemory = Duration.seconds(60)

  private func updateRates() {
    for (index, track) in cameras.enumerated() {
      let connected = watchers(of: index).filter(\.isConnected)
      let new = RateAllocation(
        estimatesKbps: connected.compactMap(\.estimateKbps), range: settings.bitrateKbps,
        startKbps: settings.startKbps)
      if new != track.allocation {
        track.allocation = new
        track.pipeline.setTarget(kbps: new.encoderKbps)
      }
      for viewer in connected {
        let layer = new.takesAllLayers(estimateKbps: viewer.estimateKbps) ? 1 : 0
        hub.connection(viewer.peer)?.setMaximumTemporalLayer(layer)
      }
    }
  }
}
