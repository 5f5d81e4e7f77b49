internal import Codecs
internal import Control
internal import Devices
public import Frames
internal import ICE
internal import Monitoring
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTPReceiving
internal import Server
internal import Wire

/// Watches one child or server: receives, decodes, plays and records, and reconnects when the link is lost.
///
/// `@unchecked Sendable`: what changes is confined to the event loop.
public final class Watcher: @unchecked Sendable {
  private let options: WatchOptions
  private let endpoint: PeerEndpoint
  let loop: any EventLoop
  let hub: PeerHub
  private let signaling: SignalingFactory
  private let video: VideoPlayer
  let audio: AudioPlayer
  /// Where somebody may talk.
  let voice: Voice?
  let recorder: Recorder?
  let snapshot: Snapshot?
  let notice: @Sendable (WatchNotice) -> Void
  private let emit: @Sendable (WatchEvent) -> Void
  private let ended: @Sendable (ParentError) -> Void

  private(set) var session: ChildSession?
  private(set) lazy var alarm = AlarmWatch(eventLoop: loop) { [weak self] report in self?.alarmChanged(report) }
  private var report: Alarm.Report?
  /// For the child's event log.
  var diary = AlarmDiary()
  var isReportingAlarm = false
  /// The sound check that runs; its timer compares the noise floor.
  var soundCheck: (number: Int, timer: RepeatedTask?)?
  private var isSteady: Bool
  private var state = WatchStatistics.State.connecting {
    didSet { if state != oldValue { stateChanged() } }
  }
  private var began = MonotonicClock.now
  private var child: String?
  /// As the child reported it last.
  private var path: PathDocument?
  private var shortfall = PictureShortfall()
  private var hasConnected = false
  private var reconnects = 0
  private var retry = RetryDelay()
  /// Why the last attempt failed.
  private var lastReason: String?
  private var retryTimer: Scheduled<Void>?
  private var keyFrameTimer: RepeatedTask?
  private var lastSample: Sample?
  private var isStopping = false

  /// What the counters were at the last `statistics()`.
  private struct Sample {
    var time: Instant
    var frames: UInt64
    var videoBytes: UInt64
    var audioBytes: UInt64
  }

  /// While recording: players can seek to key frames only.
  private static let keyFrameInterval: TimeAmount = .seconds(10)

  /// Starts watching.
  ///
  /// - Parameters:
  ///   - notice: called with messages for people, on any thread.
  ///   - show: called with each decoded picture on the decoder's thread; must return quickly. Nil: nothing is shown.
  ///   - event: called with what happens, on any thread.
  ///   - ended: called when watching was given up, at most once.
  public static func start(
    _ options: WatchOptions, notice: @escaping @Sendable (WatchNotice) -> Void,
    show: (@Sendable (VideoFrame) -> Void)? = nil, event: @escaping @Sendable (WatchEvent) -> Void = { _ in },
    ended: @escaping @Sendable (ParentError) -> Void
  ) async throws -> Watcher {
    let endpoint = try await PeerEndpoint.open(
      identity: SignalingFactory.identity(for: options.source), marking: options.marking)
    do {
      let watcher = try Watcher(options, endpoint: endpoint, notice: notice, show: show, event: event, ended: ended)
      try await watcher.loop.submit { watcher.begin() }.get()
      return watcher
    } catch {
      await endpoint.shutDown(sayingGoodbye: false)
      await endpoint.stopLoop()
      throw error
    }
  }

  private init(
    _ options: WatchOptions, endpoint: PeerEndpoint, notice: @escaping @Sendable (WatchNotice) -> Void,
    show: (@Sendable (VideoFrame) -> Void)?, event: @escaping @Sendable (WatchEvent) -> Void,
    ended: @escaping @Sendable (ParentError) -> Void
  ) throws {
    self.options = options
    isSteady = options.isSteady
    self.endpoint = endpoint
    self.notice = notice
    emit = event
    self.ended = ended
    loop = endpoint.loop
    hub = endpoint.hub
    signaling = try SignalingFactory(options.source, eventLoop: endpoint.loop)
    let request = WatcherLink()
    let snapshot = try options.snapshot.map { try Snapshot(path: $0) }
    self.snapshot = snapshot
    var seen = show
    if let snapshot {
      seen = { (picture: VideoFrame) -> Void in
        snapshot.keep(picture)
        if let show { show(picture) }
      }
    }
    video = VideoPlayer(needsKeyFrame: { request.watcher?.decoderFailed() }, show: seen)
    audio = AudioPlayer(
      speaker: options.speaker, shared: options.sharedSpeaker?.shared, vox: options.vox
    ) { state in
      if case .missing(let error) = state { notice(WatchNotice(.information, "no sound: \(error)")) }
      request.watcher?.speakerChanged(state)
    }
    audio.setMuted(options.isMuted)
    voice = options.microphone.map { device in
      Voice(device) { packet in
        request.watcher?.say(packet)
      } microphoneMissing: { error in
        notice(WatchNotice(.trouble, "no microphone: \(error)"))
      }
    }
    recorder = try options.recording.map { path in
      Recorder(
        file: try RecordingOutput.open(path), hasVideo: options.wantsVideo, hasAudio: options.wantsAudio
      ) { error in notice(WatchNotice(.failed, "the recording ended: \(error)")) }
    }
    request.watcher = self
  }

  private func begin() {
    hub.onEvent = { [weak self] peer, event in self?.handle(event, of: peer) }
    video.start()
    audio.start()
    signaling.prepare()
    began = MonotonicClock.now
    alarm.note(.phase(.connecting, isAudioOnly: !options.wantsVideo))
    alarm.start()
    openSession()
    if recorder != nil, options.wantsVideo {
      keyFrameTimer = loop.scheduleRepeatedTask(initialDelay: Self.keyFrameInterval, delay: Self.keyFrameInterval) {
        [weak self] _ in self?.requestKeyFrame(decoderFailed: false)
      }
    }
  }

  /// How a viewer leaves.
  public enum Leaving: String, Sendable, CaseIterable {
    /// DELETE on the WHEP session, or a signed goodbye through the room: the normal way.
    case delete
    /// The connection is closed (RTCP BYE, SCTP, DTLS), but without a word to signalling, as when a browser tab closes.
    case close
    /// Nothing is sent, as when the network or the power fails.
    case vanish
  }

  /// Leaves, releases everything and returns the statistics of the whole session. Call once.
  public func stop(_ leaving: Leaving = .delete) async -> WatchStatistics {
    let last = try? await loop.submit { () -> EventLoopFuture<WatchStatistics> in
      self.isStopping = true
      self.alarm.stop()
      self.audio.ring(loudness: 0)
      self.retryTimer?.cancel()
      self.keyFrameTimer?.cancel()
      self.state = .ended
      let statistics = self.statistics(isWhole: true)
      guard let session = self.session, leaving != .vanish else {
        return self.loop.makeSucceededFuture(statistics)
      }
      if leaving == .close {
        if let peer = session.peer { self.hub.close(peer) }
        return self.loop.makeSucceededFuture(statistics)
      }
      let promise = self.loop.makePromise(of: WatchStatistics.self)
      // Do not wait for a server that does not answer.
      let timeout = self.loop.scheduleTask(in: .seconds(1)) { promise.succeed(statistics) }
      session.leave {
        timeout.cancel()
        promise.succeed(statistics)
      }
      return promise.futureResult
    }.flatMap { $0 }.get()
    await endpoint.shutDown(sayingGoodbye: leaving != .vanish)
    try? await loop.submit { self.signaling.close() }.get()
    await signaling.finishWrites()
    video.stop()
    voice?.stop()
    audio.stop()
    finishOutput()
    await endpoint.stopLoop()
    return last ?? WatchStatistics(state: .ended)
  }

  static func seconds(_ duration: Duration) -> Double { duration.inSeconds.tenths }

  // MARK: The link

  private func openSession() {
    guard !isStopping else { return }
    let session = ChildSession(
      configuration: MediaPlan.configuration(
        wantsVideo: options.wantsVideo, wantsAudio: options.wantsAudio, mayTalk: voice != nil,
        steadyDelay: isSteady ? WatchOptions.steadyDelay : .zero),
      hub: hub, signaling: signaling.make(), paths: options.paths
    ) { [weak self] event in
      self?.handle(event)
    }
    self.session = session
    session.start()
  }

  private func handle(_ event: ChildSession.Event) {
    switch event {
    case .connected:
      let isAgain = hasConnected
      hasConnected = true
      if state != .connected { notice(WatchNotice(.connected, isAgain ? "reconnected" : "connected")) }
      state = .connected
      lastReason = nil
    case .weak:
      state = .disconnected
      notice(WatchNotice(.trouble, "the link is weak: nothing gets through at the moment"))
    case .waiting(let reason, let time):
      notice(WatchNotice(.trouble, "\(reason); trying again in \(Self.seconds(time)) s"))
    case .searching(let reason):
      notice(WatchNotice(.trouble, "\(reason); still looking on this network"))
    case .push(let push):
      follow(push)
    case .over(let end):
      lost(end)
    }
  }

  private func follow(_ push: ControlPush) {
    switch push {
    case .hello(let hello):
      child = hello.name.isEmpty ? nil : hello.name
      alarm.note(.hello)
      reportAlarms()
      if let hearing = hello.state.hearing { handle(hearing) }
    case .goodbye(let reason):
      notice(WatchNotice(.information, reason.isEmpty ? "the child says goodbye" : "goodbye: \(reason)"))
      alarm.note(.goodbye)
    case .heartbeat(let beat):
      // Not in each heartbeat on a narrow path.
      path = beat.path ?? path
      if let change = shortfall.note(beat.video?.picture) { notice(change) }
      alarm.note(
        .heartbeat(
          video: beat.video.map {
            Alarm.Track(
              state: $0.state, captured: $0.captured, fault: $0.fault.flatMap(DeviceFault.init),
              picture: ($0.picture?.rendition).flatMap(PictureStep.init))
          },
          audio: beat.audio.map {
            Alarm.Track(state: $0.state, captured: $0.captured, fault: $0.fault.flatMap(DeviceFault.init))
          }))
    case .state(let state):
      if let hearing = state.hearing { handle(hearing) }
    case .event, .level: break
    }
    emit(.push(push))
  }

  private func lost(_ end: SessionEnd) {
    session = nil
    path = nil
    endSoundCheck()
    video.pause()
    // Waits for the microphone's thread, which the loop must not.
    if let voice { Task { voice.stop() } }
    guard !isStopping else { return }
    // Until the first success somebody is there to correct a mistake; after it, keep trying through the night.
    guard hasConnected || options.isPatient, let reason = end.passing else {
      isStopping = true
      if hasConnected { alarm.note(.phase(.refused(isFinal: true, isExpected: options.isLent))) }
      state = .ended
      if end == .unpaired, case .child(let child) = options.source { _ = try? child.forget() }
      return ended(ParentError(end))
    }
    // Its goodbye on the data channel may have been lost.
    if case .stopped = end { alarm.note(.goodbye) }
    if hasConnected {
      state = .reconnecting
      reconnects += 1
    }
    emit(.lost(reason))
    let delay = retry.next(now: MonotonicClock.now, jitter: .random(in: 0...1))
    // Each reason once, so that a night without the child does not fill the screen.
    if reason != lastReason { notice(WatchNotice(.trouble, "\(reason); trying again in \(Self.seconds(delay)) s")) }
    lastReason = reason
    retryTimer = loop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { [weak self] in self?.openSession() }
  }

  private func stateChanged() {
    switch state {
    case .connecting: break
    case .connected: alarm.note(.phase(.live))
    case .disconnected, .reconnecting: alarm.note(.phase(.reconnecting))
    case .ended: break
    }
    emit(.state(state))
  }

  private func alarmChanged(_ report: Alarm.Report?) {
    self.report = report
    audio.ring(loudness: report?.loudness ?? 0)
    keep(report)
    emit(.alarm(report))
  }

  // MARK: Media

  private func handle(_ event: PeerConnectionEvent, of peer: PeerID) {
    switch event {
    case .videoFrame(let frame):
      guard peer == session?.peer else { return }
      alarm.note(.picture())
      play(frame, of: peer)
      recorder?.write(frame)
    case .audio(let sound):
      guard peer == session?.peer else { return }
      // What was filled in here did not arrive.
      if case .packet = sound.content { alarm.note(.sound) }
      audio.play(sound)
      recorder?.write(sound, playedAt: MonotonicClock.now)
    default:
      if peer == session?.peer { session?.handle(event) }
    }
  }

  /// A picture waits for its sound; where nobody hears that, as long as its sender asks.
  private func play(_ frame: ReceivedVideoFrame, of peer: PeerID) {
    guard let connection = hub.connection(peer) else { return video.play(frame) }
    let now = MonotonicClock.now
    let capturedAt = connection.localCaptureTime(of: frame)
    let delay = audio.outputDelay
    connection.setSoundOutputDelay(delay)
    guard let delay, let lag = connection.soundLag(of: frame, soundOutputDelay: delay, now: now) else {
      return video.play(frame, capturedAt: capturedAt, hold: connection.playoutHold(for: frame, now: now))
    }
    video.play(frame, capturedAt: capturedAt, hold: LipSync.hold(soundLag: lag), soundLag: lag)
  }

  /// Whether sound waits for 0.4 s, so that gaps of that length are not heard. From any thread.
  public func setSteady(_ isSteady: Bool) {
    loop.execute {
      self.isSteady = isSteady
      guard let peer = self.session?.peer else { return }
      self.hub.with(peer) { connection, _ in connection.setSteadyDelay(isSteady ? WatchOptions.steadyDelay : .zero) }
    }
  }

  private func requestKeyFrame(decoderFailed: Bool) {
    guard let peer = session?.peer else { return }
    hub.with(peer) { connection, now in connection.requestKeyFrame(decoderFailed: decoderFailed, now: now) }
  }

  /// Call from any thread.
  func decoderFailed() {
    loop.execute { self.requestKeyFrame(decoderFailed: true) }
  }

  // MARK: Statistics

  /// Statistics; rates are over the time since the last call.
  public func statistics() async -> WatchStatistics {
    (try? await loop.submit { self.statistics(isWhole: false) }.get()) ?? WatchStatistics(state: .ended)
  }

  /// - Parameter isWhole: rates are over the whole session instead.
  private func statistics(isWhole: Bool) -> WatchStatistics {
    let now = MonotonicClock.now
    var result = WatchStatistics(state: state)
    let picture = video.counters(takingRecent: !isWhole)
    let connection = session?.peer.flatMap { hub.connection($0) }?.statistics(now: now)
    result.reconnects = reconnects
    result.child = child
    if case .child(let child) = options.source { result.room = child.record.name }
    result.path = path
    result.alarm = report.map {
      WatchStatistics.Alarm(
        kind: $0.kind.rawValue, level: $0.level.rawValue,
        sinceMs: Int(saturating: (MonotonicClock.now - $0.since).inMilliseconds), acknowledged: $0.isAcknowledged)
    }
    result.timeToFirstFrameMs = picture.firstPicture.map { ($0 - began).inMilliseconds.tenths }
    result.framesDecoded = picture.framesDecoded
    if picture.width > 0 {
      result.width = picture.width
      result.height = picture.height
      result.codec = "VP8"
    }
    result.freezeCount = picture.freezeCount
    result.freezeMs = picture.freezeDuration.inMilliseconds.tenths
    let latency = isWhole ? picture.latency : picture.recentLatency
    if let p50 = latency.percentile(0.5), let p95 = latency.percentile(0.95) {
      result.latencyMs = WatchStatistics.Latency(p50: p50, p95: p95)
    }
    let lipSync = isWhole ? picture.lipSync : picture.recentLipSync
    if let median = lipSync.median, let extent = lipSync.extent {
      result.lipSyncMs = WatchStatistics.LipSync(p50: median, p95: extent)
    }
    let sound = audio.current
    if options.wantsAudio { result.audioLevelDb = sound.levelDb.tenths }
    if options.vox != nil { result.isVoxOpen = sound.isOpen }
    fill(&result, from: connection, picture: picture, now: now, isWhole: isWhole)
    return result
  }

  private func fill(
    _ result: inout WatchStatistics, from connection: PeerConnectionStatistics?, picture: VideoPlayer.Counters,
    now: Instant, isWhole: Bool
  ) {
    let streams = connection?.inboundRTP ?? []
    let videoStream = streams.first { $0.kind == .video }
    let audioStream = streams.first { $0.kind == .audio }
    let sample = Sample(
      time: now, frames: picture.framesDecoded, videoBytes: videoStream?.bytesReceived ?? 0,
      audioBytes: audioStream?.bytesReceived ?? 0)
    let start = Sample(time: picture.firstPicture ?? began, frames: 0, videoBytes: 0, audioBytes: 0)
    let before = isWhole ? start : lastSample ?? start
    if !isWhole { lastSample = sample }
    let seconds = max(0.001, (now - before.time).inSeconds)
    // After a reconnect the counters start at zero.
    let rate = { (now: UInt64, before: UInt64) in Double(now >= before ? now - before : now) / seconds }
    result.framesPerSecond = rate(sample.frames, before.frames).tenths
    result.videoKbps = (rate(sample.videoBytes, before.videoBytes) * 8 / 1000).tenths
    result.audioKbps = (rate(sample.audioBytes, before.audioBytes) * 8 / 1000).tenths
    result.packetsReceived = streams.reduce(0) { $0 + $1.packetsReceived }
    result.packetsLost = streams.reduce(0) { $0 + $1.packetsLost }
    result.packetsRecovered = streams.reduce(0) { $0 + $1.retransmittedPacketsReceived }
    result.jitterMs = (videoStream ?? audioStream).map { ($0.jitter * 1000).tenths }
    if let sound = audioStream?.audio, sound.totalSamplesReceived > 0 {
      let share = Double(sound.concealedSamples) / Double(sound.totalSamplesReceived)
      result.concealedPercent = (share * 10_000).rounded() / 100
    }
    // By RTCP each second; ICE, which asks every few seconds, where the child does not answer.
    let reported = streams.lazy.compactMap(\.roundTrips.roundTripTime).first
    let roundTrip = (reported ?? connection?.currentRoundTripTime).map { $0 * 1000 }
    result.roundTripMs = roundTrip.map(\.tenths)
    if let age = (isWhole ? picture.age : picture.recentAge).percentile(0.5) {
      result.latencyEstimateMs = Double(age)
    } else if picture.framesDecoded > 0, let roundTrip {
      result.latencyEstimateMs =
        (roundTrip / 2 + picture.processing.inMilliseconds / Double(picture.framesDecoded)).tenths
    }
    if let pair = connection?.selectedCandidatePair {
      result.relayed = pair.isRelayed
      result.candidatePair = WatchStatistics.CandidatePair(
        local: .init(pair.local), remote: .init(pair.remote))
      result.candidatePair?.local.relayProtocol = hub.relayProtocol(of: pair.localAddress)
    }
  }
}
