internal import Control
internal import DeviceNames
internal import Frames
internal import ICE
internal import Linux
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
internal import Storage
internal import VideoFormats
internal import Wire

/// Why a viewer was not admitted.
enum ViewerRefusal: Error {
  case admission(ViewerAdmission.Refusal)
  case connection(PeerConnectionError)
}

/// All viewers: admits them, sends them their media, and lets cameras and encoders know what is needed.
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
  /// Asked for candidates when a viewer comes from elsewhere.
  let servers: ServerBook
  private var relayMeter: RelayMeter
  let hub: PeerHub
  let registry = ViewerRegistry()
  let credentials: ViewerCredentials
  var starts = SessionStarts()
  /// In the order of the configuration; may be empty.
  let cameras: [CameraTrack]
  let audio: AudioPipeline
  private let converter: SoundConverter
  let logger: Logger
  let started = MonotonicClock.now
  private var expectedLoss = ExpectedLoss()
  private var probeTurns = ProbeTurns<PeerID>()
  /// While there are several viewers.
  private var probeTimer: RepeatedTask?
  private var seconds: RepeatedTask?
  /// A viewer gets a larger picture then, unless its estimate has fallen.
  private lazy var rise = DeadlineTimer(on: hub.eventLoop, now: { MonotonicClock.now }) { [weak self] in
    self?.updateRates()
  }
  private var releases: RepeatedTask?
  private static let releaseInterval: TimeAmount = .seconds(30)
  /// The camera that is streamed to viewers that did not choose one.
  private(set) var activeCamera = 0
  /// Somebody records the first camera and the microphone.
  private var isRecording = false
  static let recordedEncoding = VideoEncoding(.vp8, .high)
  /// Gets what is encoded of them.
  var recorded: ((EncodedMedia) -> Void)?

  init(
    settings: Settings, servers: ServerBook, hub: PeerHub, credentials: ViewerCredentials, cameras: [VideoPipeline],
    audio: AudioPipeline, converter: SoundConverter, logger: Logger
  ) {
    self.settings = settings
    self.servers = servers
    relayMeter = RelayMeter(limit: servers.away.relayBytes)
    self.hub = hub
    self.credentials = credentials
    self.cameras = cameras.map { pipeline in
      CameraTrack(pipeline: pipeline, settings: .init(range: settings.bitrateKbps, startKbps: settings.startKbps))
    }
    self.audio = audio
    self.converter = converter
    self.logger = logger
  }

  func start() {
    hub.renewedServers = { [weak self] in self?.servers.own() ?? [] }
    hub.onRelayFailure = { [weak self] peer, reason in
      guard let self, let session = registry[peer] else { return }
      logger.warning(
        "no relay for a viewer from elsewhere", metadata: ["viewer": "\(session.name)", "reason": "\(reason)"])
    }
    seconds = hub.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [weak self] _ in
      guard let self else { return }
      hub.setWallClock(MonotonicClock.wallClockReference)
      for session in registry.all where session.isConnected { session.pair.map(credentials.touch) }
      credentials.endExpired()
      countRelayed()
      credentialsChanged()
      updateErrorCorrection()
      refreshPictures(now: MonotonicClock.now)
      updateRates()
      registry.notify(.secondPassed)
    }
    // Returns memory that a command or a past viewer needed.
    let interval = Self.releaseInterval
    releases = hub.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
      MemorySettings.releaseUnused()
    }
  }

  func stop() {
    seconds?.cancel()
    releases?.cancel()
    probeTimer?.cancel()
    rise.cancel()
  }

  // MARK: Sessions

  /// Index of the camera with this id; 0 without an id, nil for an unknown one. If there is no camera at all, every
  /// viewer gets index 0 and no picture.
  func cameraIndex(_ id: String?) -> Int? {
    guard let id else { return 0 }
    return cameras.firstIndex { $0.pipeline.settings.cameraID == id }
  }

  /// Configuration of a viewer's peer connection.
  private func peerConfiguration(
    permissions: Permissions, camera: Int, reach: NetworkReach, rank: ViewerAdmission.Rank
  ) -> PeerConnectionConfiguration {
    var permissions = permissions
    if cameras.isEmpty { permissions.remove(.view) }
    if audio.device == .off { permissions.remove(.listen) }
    let cameraID = cameras.indices.contains(camera) ? cameras[camera].pipeline.settings.cameraID : ""
    var sending = RTPSenderConfiguration()
    // Sound, and a still now and then.
    sending.minimumBitrateKbps = Self.minimumEstimateKbps
    sending.startBitrateKbps = settings.startKbps
    sending.maximumBitrateKbps = settings.bitrateKbps.upperBound * 2
    // Sound with its copies, headers and retransmissions come on top of the picture.
    sending.usefulBitrateKbps = settings.bitrateKbps.upperBound * 5 / 4 + 200
    var configuration = PeerConnectionConfiguration(
      media: MediaOffer.media(for: permissions, camera: cameraID), sending: sending, playoutDelay: PlayoutDelay.live)
    if rank != .parent {
      // Whoever was lent access does not make us ask sixty ports of its choice whether they answer. A browser has about ten.
      configuration.ice.maximumRemoteCandidates = Self.lentCandidates
      configuration.ice.signalledCandidateInterval = Self.lentCandidateInterval
    }
    if reach == .elsewhere {
      // Nobody knows what is on the way, nor whose it is: a little at first, and no bursts.
      configuration.sending.startBitrateKbps = min(settings.startKbps, Self.startElsewhereKbps)
      configuration.sending.leastPacingKbps = Self.pacingElsewhereKbps
    }
    if reach == .elsewhere, servers.away.relay == .only { configuration.iceTransportPolicy = .relay }
    configuration.sctp.expectedChannels = [
      DataChannelName(label: ControlLimits.channelLabel, protocolName: ControlLimits.protocolName)
    ]
    return configuration
  }

  func add(_ session: ViewerSession) {
    registry.add(session)
    logger.info("viewer is connecting", metadata: ["viewer": "\(session.name)", "peer": "\(session.peer)"])
    updateDemand()
  }

  /// Ends a session immediately.
  func end(_ session: ViewerSession, because reason: ByeReason) {
    guard session.endReason == nil else { return }
    session.endReason = reason
    logger.info("session is over", metadata: ["viewer": "\(session.name)", "because": "\(reason.rawValue)"])
    guard let outlet = session.outlet else { return hub.close(session.peer) }
    outlet.close()
    stateChanged(.closed, of: session)
  }

  /// Applies the current tokens and pair records to the open sessions: ends sessions whose credential has expired or is
  /// gone, and updates the permissions of the others. Called each second, because credentials expire on their own, and
  /// whenever one was replaced.
  func credentialsChanged() {
    for session in registry.byAge {
      switch credentials.change(for: session) {
      case nil: break
      case .end(let reason): end(session, because: reason)
      case .permissions(let permissions):
        logger.notice(
          "a viewer's permissions have changed",
          metadata: ["viewer": "\(session.name)", "allow": "\(permissions.names.joined(separator: ","))"])
        let sawPicture = session.seesPicture
        session.permissions = permissions
        updateDemand()
        if !sawPicture, session.seesPicture {
          session.route.forgetPictures()
          beginPicture(for: session)
        }
        updateRates()
        registry.notify(.permissionsChanged(session))
        if session.outlet != nil, !session.seesPicture, !session.hearsSound { end(session, because: .notPaired) }
      }
    }
  }

  func handle(_ event: PeerConnectionEvent, of peer: PeerID) {
    guard let session = registry[peer] else { return }
    switch event {
    case .stateChanged(let state):
      stateChanged(state, of: session)
    case .keyFrameRequested:
      noteKeyFrameRequests(of: session)
      if session.seesPicture, let rendition = session.route.repairedRendition { repair(rendition, for: session) }
    case .targetBitrateChanged(let kbps):
      session.estimateKbps = kbps
      updateRates()
    case .dataChannelOpened, .dataChannelMessage, .dataChannelClosed, .resolve, .selectedPairChanged, .videoFrame,
      .audio, .mediaEnded, .localCandidate, .localCandidatesComplete:
      break
    }
    registry.notify(.connection(session, event))
  }

  func stateChanged(_ state: PeerConnectionState, of session: ViewerSession) {
    switch state {
    case .connected:
      let isNew = !session.isConnected
      session.isConnected = true
      if isNew {
        session.connectedAt = MonotonicClock.now
        if session.seesPicture {
          // Before it costs anybody a key frame: it may get an encoder of its own.
          updateRates()
          beginPicture(for: session)
        }
        // Returns the memory that the handshake needed.
        releaseUnusedSoon()
      }
      let path = session.outlet?.protocolName ?? hub.connection(session.peer)?.selectedPair?.text
      logger.info("viewer is connected", metadata: ["viewer": "\(session.name)", "path": "\(path ?? "")"])
      updateDemand()
      updateRates()
      if isNew { registry.notify(.connected(session)) }
    case .disconnected:
      // What is left of a player that found a path and never got further has no connection to lose.
      guard session.isConnected else { return }
      logger.notice("the connection to a viewer is weak", metadata: ["viewer": "\(session.name)"])
    case .failed, .closed:
      registry.remove(session)
      session.isLinkLost = state == .failed && session.endReason == nil
      session.controlChannel = nil
      session.transfer = .none
      logger.info("viewer is gone", metadata: ["viewer": "\(session.name)", "how": "\(state.rawValue)"])
      updateDemand()
      updateRates()
      registry.notify(.ended(session))
      if registry.isEmpty { releaseUnusedSoon() }
    case .new, .connecting:
      break
    }
  }

  private func releaseUnusedSoon() {
    hub.eventLoop.scheduleTask(in: .seconds(5)) { MemorySettings.releaseUnused() }
  }

  /// Switches all viewers of the active camera to another one, within the same stream.
  func switchCamera(to index: Int) {
    for session in registry.all where session.camera == activeCamera {
      session.camera = index
      session.route.forgetPictures()
    }
    activeCamera = index
    updateDemand()
    updateRates()
    for session in watchers(of: index) { beginPicture(for: session) }
  }

  func pipeline(of session: ViewerSession) -> VideoPipeline? {
    cameras.indices.contains(session.camera) ? cameras[session.camera].pipeline : nil
  }

  // MARK: Demand and rates

  func watchers(of camera: Int) -> [ViewerSession] {
    registry.all.filter { $0.camera == camera && $0.seesPicture }
  }

  private func updateDemand() {
    updateProbing()
    for (index, track) in cameras.enumerated() {
      let watching = watchers(of: index)
      let isRecorded = isRecording && index == 0
      track.pipeline.setDemand(
        capturing: isRecorded || !watching.isEmpty,
        encoding: isRecorded || watching.contains(where: \.isConnected),
        codec: isRecorded || watching.contains { $0.codec == .vp8 } ? .vp8 : .h264)
    }
    audio.setDemand(isRecording || registry.all.contains { $0.isConnected && $0.hears(.opus) })
    converter.setDemand(
      Set(
        SoundFormat.converted.filter { format in registry.all.contains { $0.isConnected && $0.hears(format) } }))
  }

  private func updateProbing() {
    let isShared = registry.all.count(where: \.isConnected) > 1
    guard isShared != (probeTimer != nil) else { return }
    probeTimer?.cancel()
    probeTimer = nil
    if isShared {
      let interval = Self.probeInterval
      probeTimer = hub.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { [weak self] _ in
        self?.passProbeTurn()
      }
    } else {
      passProbeTurn()
    }
  }

  /// Longer than a burst and its way there and back.
  private static let probeInterval: TimeAmount = .milliseconds(250)

  /// Lets the next viewer probe, and nobody else. One viewer alone always may.
  private func passProbeTurn() {
    let sessions = registry.byAge.filter(\.isConnected)
    let turn = probeTurns.next(
      sessions.map { ($0.peer, hub.connection($0.peer)?.wantsProbe ?? false) })
    for session in sessions {
      hub.connection(session.peer)?.setMayProbe(sessions.count == 1 || session.peer == turn)
    }
  }

  /// A recording is a viewer of the first camera and the microphone.
  func setRecording(_ isRecording: Bool) {
    self.isRecording = isRecording
    updateDemand()
    updateRates()
  }

  /// Lets Opus in-band FEC follow the loss of the parent who has most. Without loss, the bits and the processor time are
  /// better spent otherwise.
  private func updateErrorCorrection() {
    let now = MonotonicClock.now
    let listeners = registry.all.compactMap { session -> ExpectedLoss.Listener? in
      guard session.hearsSound, let connection = hub.connection(session.peer) else { return nil }
      return ExpectedLoss.Listener(
        fractionLost: connection.fractionLost(now: now), isLent: credentials.rank(of: session.origin) < .parent)
    }
    audio.setExpectedLoss(percent: expectedLoss.update(listeners, now: now))
  }

  /// Gives each viewer its rendition and each encoder its rate.
  private func updateRates() {
    let now = MonotonicClock.now
    updateSound(now: now)
    for (index, track) in cameras.enumerated() {
      let connected = watchers(of: index).filter(\.isConnected)
      for codec in VideoCodec.allCases {
        updateRates(of: codec, from: track, isRecorded: isRecording && index == 0, connected, now: now)
      }
    }
    let rises = cameras.flatMap { track in VideoCodec.allCases.compactMap { track.allocators[$0].nextRise } }
    rise.set(rises.min())
  }

  /// - Parameter everybody: viewers of the camera that are connected. A codec without any has no encoder that runs.
  private func updateRates(
    of codec: VideoCodec, from track: CameraTrack, isRecorded: Bool, _ everybody: [ViewerSession], now: Instant
  ) {
    let connected = everybody.filter { $0.codec == codec }
    let isRecorded = isRecorded && codec == Self.recordedEncoding.codec
    let camera = track.pipeline.pictureSize
    let size = Rendition.high.size(ofCamera: camera.width, camera.height, codec: codec) ?? camera
    var allocation = track.allocators[codec].allocate(
      connected.map { session in
        let sound =
          session.hearsSound ? session.soundRoute.kbps(ofEstimate: session.estimateKbps ?? settings.startKbps) : 0
        return RenditionAllocator.Viewer(
          id: session.peer, estimateKbps: pictureEstimate(of: session),
          limitKbps: session.limits.pictureKbps(besideSoundKbps: sound), soundKbps: sound,
          messagesKbps: session.isOnNarrowPath && session.controlChannel != nil ? NarrowPathPushes.kbps : 0,
          fractionLost: hub.connection(session.peer)?.fractionLost(now: now) ?? 0, since: session.connectedAt ?? now,
          isLent: credentials.rank(of: session.origin) < .parent)
      }, size: size, isRecorded: isRecorded, staysReady: codec == .vp8 && everybody.isEmpty, now: now)
    track.refreshes[codec].divide(
      &allocation, silent: Set(connected.filter(\.neverAsksForKeyFrames).map(\.peer)), isRecorded: isRecorded,
      now: now)
    if allocation.targets != track.pipeline.targets[codec] { track.pipeline.setTargets(allocation.targets, of: codec) }
    for session in connected {
      guard let assignment = allocation.assignments[session.peer] else { continue }
      if assignment.step != session.route.assignment.step {
        logger.info(
          "a viewer's path carries another picture",
          metadata: ["viewer": "\(session.name)", "picture": "\(assignment.step)"])
      }
      session.route.assignment = assignment
      applyLayers(to: session)
      requestPicture(for: session, from: track.pipeline, now: now)
    }
  }

  /// A viewer misses something that cannot be sent again.
  private func repair(_ rendition: Rendition, for session: ViewerSession) {
    let now = MonotonicClock.now
    let track = cameras[session.camera]
    let isLossy = (hub.connection(session.peer)?.fractionLost(now: now) ?? 0) > 0
    guard isLossy else { return track.pipeline.requestKeyFrame(of: rendition, in: session.codec) }
    let isShared = watchers(of: session.camera).contains {
      $0 !== session && $0.isConnected && $0.codec == session.codec && $0.route.repairedRendition == rendition
    }
    let size = track.pipeline.pictureSize
    let repair = track.allocators[session.codec].repair(
      rendition, for: session.peer, isShared: isShared, size: size, now: now)
    updateRates()
    if repair == .keyFrame { track.pipeline.requestKeyFrame(of: rendition, in: session.codec) }
  }

  private func updateSound(now: Instant) {
    let listeners = registry.all.filter { $0.isConnected && $0.hearsSound }
    for session in listeners { session.soundRoute.follow(estimateKbps: session.estimateKbps, now: now) }
    audio.setNarrowDemand(listeners.contains(where: \.soundRoute.needsNarrow))
  }

  func applyLayers(to session: ViewerSession) {
    hub.connection(session.peer)?.setMaximumTemporalLayer(session.route.takesAllLayers ? 1 : 0)
  }

  /// A viewer that has no picture yet gets a key frame at once.
  private func beginPicture(for session: ViewerSession) {
    guard let rendition = session.route.awaitedRendition else { return }
    session.keyFrameRequest = (rendition, MonotonicClock.now)
    pipeline(of: session)?.requestKeyFrameAtOnce(of: rendition, in: session.codec)
  }

  /// The key frame with which a viewer goes on. A rendition that begins does so with one by itself; from one that runs it
  /// costs the others something, so it comes seldom, and who goes up waits whether somebody else needs one.
  private func requestPicture(for session: ViewerSession, from pipeline: VideoPipeline, now: Instant) {
    guard let rendition = session.route.awaitedRendition else {
      session.keyFrameRequest = nil
      if session.route.needsStill(at: now), let rendition = session.route.assignment.rendition {
        pipeline.requestKeyFrame(
          of: rendition, in: session.codec, spacing: PictureRoute.stillInterval - .seconds(1))
      }
      return
    }
    if let last = session.keyFrameRequest, last.rendition == rendition, now - last.at < Self.changePatience { return }
    session.keyFrameRequest = (rendition, now)
    // Where the machine has no time for its encoder any more, nothing comes of that meanwhile.
    guard session.route.current != .refreshed || pipeline.targets[session.codec][.refreshed] != nil else {
      return pipeline.requestKeyFrame(of: rendition, in: session.codec)
    }
    let isUp = session.route.current.map { rendition > $0 } ?? false
    pipeline.requestKeyFrame(
      of: rendition, in: session.codec, spacing: Self.changeSpacing, patience: isUp ? Self.upPatience : .zero)
  }

  private static let changeSpacing = Duration.seconds(3)
  /// A key frame that has not come by then is asked for again.
  private static let changePatience = changeSpacing + .seconds(1)
  private static let upPatience = Duration.milliseconds(500)
  /// kbit/s.
  private static let minimumEstimateKbps = 30
  /// A path of 500 kbit/s carries it; probes find the rest within a second or two.
  private static let startElsewhereKbps = 400
  private static let pacingElsewhereKbps = 4000
  /// Candidates that a guest or a token's player names: twice as many as most browsers have, then one more each time.
  private static let lentCandidates = 20
  private static let lentCandidateInterval = Duration.seconds(5)

  // MARK: Admission

  /// Answers an offer.
  ///
  /// - Parameters:
  ///   - name: the name of the token or pair record.
  ///   - camera: index; nil for the one that is streamed.
  ///   - reach: from elsewhere, STUN and TURN servers are asked for candidates, which are sent as they come.
  /// - Returns: the answer.
  func admit(
    _ offer: SessionDescription, origin: ViewerSession.Origin, name: String, permissions: Permissions,
    camera: Int? = nil, includingLoopback: Bool, reach: NetworkReach = .localNetwork
  ) throws(ViewerRefusal) -> SessionDescription {
    let evicted: ViewerSession?
    do throws(ViewerAdmission.Refusal) {
      evicted = try sessionToEvict(for: origin, permissions)
      try starts.count(origin.credential, rank: credentials.rank(of: origin), now: MonotonicClock.now)
    } catch {
      throw .admission(error)
    }
    let camera = camera ?? activeCamera
    let peer: PeerID
    let answer: SessionDescription
    do throws(PeerHubError) {
      (peer, answer) = try hub.connect(
        offer: offer,
        configuration: peerConfiguration(
          permissions: permissions, camera: camera, reach: reach, rank: credentials.rank(of: origin)),
        includingLoopback: includingLoopback, servers: reach == .elsewhere ? self.servers.own() : [])
    } catch {
      switch error {
      case .full: throw .admission(.full)
      case .refused(let reason): throw .connection(reason)
      }
    }
    // Only now: an offer that is refused costs nobody's place.
    if let evicted { end(evicted, because: .busy) }
    let negotiated = hub.connection(peer)?.negotiated
    let sent = negotiated?.media.filter(\.direction.sends) ?? []
    let problems = Self.problems(of: negotiated)
    for problem in problems {
      logger.notice("a viewer does not get everything", metadata: ["viewer": "\(name)", "problem": "\(problem)"])
    }
    let session = ViewerSession(
      peer: peer, origin: origin, name: name, permissions: permissions, camera: camera,
      hasPictureTrack: sent.contains { $0.kind == .video }, hasSoundTrack: sent.contains { $0.kind == .audio },
      codec: sent.lazy.compactMap { VideoCodec(name: $0.codec.name) }.first ?? .vp8,
      limits: hub.connection(peer)?.sendingLimits ?? SendingLimits(), problems: problems, since: MonotonicClock.now,
      reach: reach)
    // Nothing has been measured yet, but this much is known.
    let bounds = [session.limits.totalKbps, reach == .elsewhere ? Self.startElsewhereKbps : nil].compactMap { $0 }
    session.estimateKbps = bounds.min().flatMap { $0 < settings.startKbps ? $0 : nil }
    session.asksForKeyFrames = session.pair != nil || negotiated?.showsPictures ?? false
    add(session)
    return answer
  }

  /// A sentence for picture or sound that an offer asks for and its credential allows, but that cannot be sent.
  private static func problems(of session: NegotiatedSession?) -> [String] {
    guard let session else { return [] }
    return [(MediaKind.video, "no picture"), (.audio, "no sound")].compactMap { kind, lack in
      guard !session.media.contains(where: { $0.kind == kind && $0.direction.sends }) else { return nil }
      let rejected = session.rejected.first { $0.kind == kind && $0.direction.receives && $0.reason != .noTrack }
      return rejected.map { "\(lack): \($0.reason)" }
    }
  }

  /// The session that has to make room; nil when there is room.
  func sessionToEvict(
    for origin: ViewerSession.Origin, _ permissions: Permissions
  ) throws(ViewerAdmission.Refusal) -> ViewerSession? {
    let candidate = ViewerAdmission.Candidate(
      credential: origin.credential, rank: credentials.rank(of: origin),
      isAdministrator: permissions.contains(.admin))
    let sessions = registry.byAge
    let places = sessions.map { session in
      ViewerAdmission.Place(
        credential: session.origin.credential, rank: credentials.rank(of: session.origin),
        isConnected: session.outlet != nil || hub.connection(session.peer)?.state == .connected,
        wasConnected: session.isConnected,
        since: session.since)
    }
    let index = try ViewerAdmission.place(for: candidate, among: places, now: MonotonicClock.now)
    return index.map { sessions[$0] }
  }

  /// Handles an ICE restart by the viewer.
  ///
  /// - Returns: our ICE credentials and candidates; nil when this session cannot restart.
  func restartICE(of session: ViewerSession, ufrag: String, pwd: String, candidates: [String]) -> RestartedICE? {
    let restarted = hub.with(session.peer) { connection, now in
      try? connection.restartICE(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
    }
    guard let ours = restarted.flatMap({ $0 }) else { return nil }
    hub.updateFragment(of: session.peer)
    return ours
  }

  // MARK: Key frames for players that never ask for one

  /// Once a second.
  private func refreshPictures(now: Instant) {
    for (index, track) in cameras.enumerated() {
      let watching = watchers(of: index).filter(\.isConnected)
      watching.forEach(noteKeyFrameRequests)
      for codec in VideoCodec.allCases {
        track.refreshes[codec].measure(encodeNanoseconds: track.pipeline.counters.encodeNanoseconds, now: now)
        let silent = watching.filter { $0.neverAsksForKeyFrames && $0.codec == codec }
        for rendition in PictureRefresh.due(silent.map { ($0.route.assignment, canAsk($0)) }) {
          track.pipeline.requestKeyFrame(of: rendition, in: codec, spacing: PictureRefresh.spacing)
        }
      }
    }
  }

  private func noteKeyFrameRequests(of session: ViewerSession) {
    guard !session.asksForKeyFrames, let connection = hub.connection(session.peer) else { return }
    session.asksForKeyFrames = connection.keyFrameRequestsReceived > 0
  }

  /// Its offer has PLI or FIR for the picture.
  private func canAsk(_ session: ViewerSession) -> Bool {
    let picture = hub.connection(session.peer)?.negotiated?.media.first { $0.kind == .video }
    return picture.map { !$0.feedback.isDisjoint(with: [.pli, .fir]) } ?? false
  }

  // MARK: Viewers whose packets pass through a TURN server

  /// Once a second: what has passed since.
  private func countRelayed() {
    guard relayMeter.limit != nil else { return }
    let seconds = MonotonicClock.unixTime
    // From noon to noon: a night belongs to the day on which it began.
    let evening = LocalClock(unixSeconds: seconds - 12 * 3600)
    let night = evening.year * 10_000 + evening.month * 100 + evening.day
    let wasUsedUp = relayMeter.isUsedUp
    relayMeter.add(0, night: night)
    for session in registry.all {
      guard let connection = hub.connection(session.peer) else { continue }
      let sent = connection.statistics(now: MonotonicClock.now).bytesSent
      if connection.selectedPair?.isRelayed ?? false {
        relayMeter.add(sent &- session.countedBytes, night: night)
      }
      session.countedBytes = sent
    }
    if relayMeter.isUsedUp, !wasUsedUp {
      logger.warning("the relay's data for tonight is used up; relayed viewers get the sound alone")
    }
  }

  /// Through a relay no more than its owner wants to pay for.
  private func pictureEstimate(of session: ViewerSession) -> Int? {
    guard isRelayed(session) else { return session.estimateKbps }
    return relayMeter.isUsedUp
      ? 0 : min(session.estimateKbps ?? settings.startKbps, servers.away.relayBitrateKbps)
  }

  /// What is reported to the viewer of its picture; nil without one.
  func picture(of session: ViewerSession) -> PictureDocument? {
    guard session.seesPicture else { return nil }
    let document = session.route.assignment.document
    guard document.reason != nil, relayMeter.isUsedUp, isRelayed(session) else { return document }
    return PictureDocument(rendition: session.route.assignment.step, reason: PictureDocument.relayData)
  }

  private func isRelayed(_ session: ViewerSession) -> Bool {
    hub.connection(session.peer)?.selectedPair?.isRelayed ?? false
  }
}

extension NegotiatedSession {
  /// Browsers show the picture themselves, and ask when they cannot. They name the extension with which a sender bounds how long
  /// that takes; programs that pass a stream on (Pion, GStreamer, aiortc by itself) have no use for it.
  fileprivate var showsPictures: Bool {
    media.contains { $0.kind == .video && $0.headerExtensionIDs[RTPHeaderExtensionURI.playoutDelay] != nil }
  }
}
