internal import Control
internal import Frames
internal import HearingProof
internal import Linux
internal import Messages
internal import Monitoring
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTPReceiving
internal import SCTP
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// The child's end of every `control` channel: executes commands and sends all viewers what has changed.
/// interfaces/wire.md, "Data channel".
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ControlService: @unchecked Sendable {
  let viewers: Viewers
  let pairing: PairingService
  let lights: LightBoard
  let night: NightBoard
  let sound: SoundOutput
  let lullaby: LullabyService
  let report: StatusReporter
  let hearing: HearingService
  let drill: DrillService
  var drillPolicy = ProofPolicy(.drill)
  var hearingPolicy = ProofPolicy(.soundCheck)
  var floor = TalkFloor()
  let events: PersistentEventLog
  private let notifiers: NotifierBoard
  let pushes: PushService
  let recording: RecordingService
  let meetings: MeetingBoard
  private let watch: NightWatch
  private var presence = ViewerEvents()
  /// What viewers do, and alarms of guests: apart, so that neither uses up the other's share.
  private var actions = ViewerEvents()
  /// What viewers left each light (by `light` and its id) and the lullaby in.
  var lastActions: [String: String] = [:]
  /// Told of each event of the child's own.
  var noted: (EventKind) -> Void = { _ in }
  private var nightlyTest: NightlyTest?
  let proofs: ProofKeeper
  let cameraKeeper: CameraKeeper
  private(set) var schedule: Schedule
  private var clockSteps = ClockSteps()
  private var lastSent: NodeState?
  private var messageNumber: UInt64 = 0
  private var transferNumber: UInt32 = 0
  private var pump: RepeatedTask?
  private var narrowPath = NarrowPathPushes()
  /// How often each pairing and token has given a command that has a `rate`, by the command's name.
  var rates: [String: RateLimiter<Credential>] = [:]
  private lazy var router = makeRouter()

  var loop: any EventLoop { viewers.hub.eventLoop }

  init(
    viewers: Viewers, pairing: PairingService, lights: LightBoard, night: NightBoard, sound: SoundOutput,
    lullaby: LullabyService, report: StatusReporter, events: PersistentEventLog,
    notifiers: NotifierBoard, pushes: PushService, recording: RecordingService, meetings: MeetingBoard,
    watch: NightWatch, proofs: ProofKeeper, cameraKeeper: CameraKeeper, hearingTest: Int?,
    schedule: Schedule
  ) {
    self.viewers = viewers
    self.pairing = pairing
    self.lights = lights
    self.night = night
    self.sound = sound
    self.lullaby = lullaby
    self.report = report
    self.events = events
    self.notifiers = notifiers
    self.pushes = pushes
    self.recording = recording
    self.meetings = meetings
    self.watch = watch
    self.proofs = proofs
    self.cameraKeeper = cameraKeeper
    self.schedule = schedule
    nightlyTest = hearingTest.map(NightlyTest.init)
    hearing = HearingService(sound: sound, audio: viewers.audio, loop: viewers.hub.eventLoop)
    drill = DrillService(viewers: viewers)
  }

  /// Begins to observe viewers and pairing.
  func start() {
    viewers.registry.observe { [weak self] event in self?.handle(event) }
    pairing.observe { [weak self] change in self?.note(change) }
    lights.changed = { [weak self] in self?.broadcastChanges() }
    hearing.listeners = { [weak self] in self?.listeners ?? [] }
    hearing.changed = { [weak self] document in self?.note(document) }
    if cameraKeeper.isPaused { for camera in viewers.cameras { camera.pipeline.setPaused(true) } }
    if let last = proofs.known.hearing { hearing.restore(last) }
    if let last = proofs.known.drill { drill.restore(last) }
    drill.changed = { [weak self] document in self?.note(document) }
    drill.released = { [weak self] viewer in self?.resume(viewer) }
    recording.note = { [weak self] kind, detail in self?.note(kind, detail: detail) }
    lastSent = state
    pushes.start()
    note(.restart)
    recording.start()
  }

  /// Says goodbye to all viewers, restores the configured light levels and switches infrared lamps off.
  func stop() {
    pump?.cancel()
    hearing.stop()
    drill.stop()
    push(.goodbye(reason: "The child is stopping."))
    lights.stop()
    night.stop()
    writeWaitingEvents()
    if let minute = watch.stop() { events.append(minute) }
  }

  private func note(_ change: PairingService.Change) {
    switch change {
    case .windowOpened: note(.pairingOpened)
    case .windowClosed(let reason): note(.pairingClosed, detail: reason)
    case .paired(let record, isNew: _): note(.paired, id: record.id, detail: record.name)
    case .revoked(let record): note(.unpaired, id: record.id, detail: record.name)
    }
  }

  // MARK: Viewer events

  private func handle(_ event: ViewerEvent) {
    switch event {
    case .connected(let viewer):
      // Before anything is sent: a parent may have reconnected during a drill.
      drill.apply()
      if viewer.isWatching {
        notePresence(.viewerJoined, of: viewer)
        if let time = watch.cameBack(viewer) { notePresence(.reconnected, of: viewer, detail: Self.after(time)) }
      }
      broadcastChanges()
    case .connection(let viewer, let event): handle(event, of: viewer)
    case .permissionsChanged(let viewer):
      if !viewer.permissions.contains(.talk) { loseFloor(viewer) }
      broadcastChanges()
    case .ended(let viewer):
      loseFloor(viewer)
      let cause = watch.left(viewer)
      if viewer.isWatching { notePresence(.viewerLeft, of: viewer, cause: cause) }
      broadcastChanges()
    case .levelMeasured:
      watch.levelMeasured()
      sendLevel()
    case .secondPassed:
      beat()
      renewCredentials()
    }
  }

  private func handle(_ event: PeerConnectionEvent, of viewer: ViewerSession) {
    switch event {
    case .dataChannelOpened(let id, let parameters, _):
      guard parameters.label == ControlLimits.channelLabel, parameters.protocolName == ControlLimits.protocolName else {
        return
      }
      viewer.controlChannel = id
      greet(viewer)
    case .dataChannelMessage(let id, let message):
      if id == viewer.controlChannel { take(message, from: viewer) }
    case .dataChannelClosed(let id):
      if id == viewer.controlChannel { viewer.controlChannel = nil }
    case .audio(let audio):
      hear(audio, from: viewer)
    default:
      break
    }
  }

  private func greet(_ viewer: ViewerSession) {
    viewer.greetedAt = MonotonicClock.now
    send(.push(.hello(hello(for: viewer))), to: viewer)
  }

  /// Those for TURN servers end; parents that are connected get others in time.
  private func renewCredentials() {
    guard let interval = viewers.servers.renewalInterval else { return }
    let now = MonotonicClock.now
    for viewer in viewers.registry.all where viewer.pair != nil && viewer.controlChannel != nil {
      if let last = viewer.greetedAt, now - last >= interval { greet(viewer) }
    }
  }

  private func loseFloor(_ viewer: ViewerSession) {
    if floor.holder?.viewer == viewer.id { sound.endTalk() }
    floor.release(viewer: viewer.id)
  }

  /// Plays only the viewer that has the floor. A player that does not know `talk.acquire` takes the floor by sending
  /// sound while nobody has it, or while a guest has it and it is a parent's.
  private func hear(_ audio: ReceivedAudio, from viewer: ViewerSession) {
    guard viewer.permissions.contains(.talk) else { return }
    if floor.holder?.viewer != viewer.id, !viewer.hasAskedForFloor, floor.isFree(for: talker(viewer)) {
      try? takeFloor(for: viewer, force: false)
      broadcastChanges()
    }
    if floor.holder?.viewer == viewer.id { sound.hear(audio) }
  }

  func takeFloor(for viewer: ViewerSession, force: Bool) throws(ControlError) {
    let before = floor.holder
    try floor.acquire(talker(viewer), force: force)
    if let before, before != floor.holder { sound.endTalk() }
  }

  private func talker(_ viewer: ViewerSession) -> TalkFloor.Talker {
    TalkFloor.Talker(viewer: viewer.id, name: viewer.name, isGuest: !isParent(viewer))
  }

  private func take(_ message: DataChannelMessage, from viewer: ViewerSession) {
    let isInTime = viewer.countOrder(at: MonotonicClock.now)
    let request: ControlRequest
    do throws(RefusedRequest) {
      guard case .text(let text) = message else { throw ControlRequest.binary }
      request = try ControlRequest(json: text, named: router.named)
    } catch {
      if isInTime { send(.refusal(to: error.id, error.error), to: viewer) }
      return
    }
    do throws(ControlError) {
      guard isInTime else { throw ControlError(.busy, "Too many commands; the limit is 10 per second.") }
      try request.command.check(permissions(of: viewer))
      let bound = NIOLoopBound(self, eventLoop: loop)
      router.carryOut(request.command, viewer).hop(to: loop).whenComplete { result in
        bound.value.finish(request, of: viewer, with: result)
      }
    } catch {
      send(.refusal(to: request.id, error), to: viewer)
    }
  }

  private func finish(
    _ request: ControlRequest, of viewer: ViewerSession, with result: Result<ControlAnswer, any Error>
  ) {
    switch result {
    case .success(let answer):
      // A command without an id expects no reply.
      if let id = request.id { send(.reply(to: id, answer), to: viewer) }
      sendTransfers()
    case .failure(let error as ControlError):
      send(.refusal(to: request.id, error), to: viewer)
    case .failure:
      send(
        .refusal(to: request.id, ControlError(.internal, "The camera failed to do it; its log has the reason.")),
        to: viewer)
    }
    broadcastChanges()
  }

  /// The current permissions of the token or pair record.
  private func permissions(of viewer: ViewerSession) -> Permissions {
    viewers.credentials.standing(of: viewer.origin).permissions
  }

  // MARK: Notifications

  func note(_ kind: EventKind, level: EventLevel? = nil, id: String? = nil, detail: String? = nil) {
    broadcast(events.append(kind, level: level, time: MonotonicClock.unixTime, name: nil, id: id, detail: detail))
    recording.heard(kind)
    noted(kind)
  }

  /// A viewer has done something. It may be reported later than done, with others of its kind.
  func note(_ kind: EventKind, by viewer: ViewerSession, id: String?, detail: String? = nil) {
    let entry = actions.add(
      kind, of: known(viewer), id: id, detail: detail, time: MonotonicClock.unixTime, now: MonotonicClock.now)
    if let entry { broadcast(entry) }
    recording.heard(kind)
  }

  private func known(_ viewer: ViewerSession) -> ViewerEvents.Viewer {
    ViewerEvents.Viewer(credential: viewer.origin.credential, name: viewer.name, isParent: isParent(viewer))
  }

  private func notePresence(
    _ kind: EventKind, of viewer: ViewerSession, cause: LeavingCause? = nil, detail: String? = nil
  ) {
    let entry = presence.add(
      kind, of: known(viewer), cause: cause, detail: detail, time: MonotonicClock.unixTime, now: MonotonicClock.now)
    if let entry { write(entry) }
  }

  private func write(_ entry: ViewerEvents.Entry) {
    broadcast(entry)
    recording.heard(entry.kind)
    noted(entry.kind)
  }

  /// What waits for others of its kind is events now: a report is to be of all that is known.
  func writeWaitingEvents() {
    for entry in presence.takeAll() { write(entry) }
    for entry in actions.takeAll() { broadcast(entry) }
  }

  private func broadcast(_ entry: ViewerEvents.Entry) {
    broadcast(
      events.append(
        entry.kind, time: entry.time, name: entry.name, id: entry.id, detail: entry.detail, began: entry.began,
        acknowledgedAt: entry.acknowledgedAt, count: entry.count))
  }

  private func broadcast(_ event: EventDocument) {
    push(.event(event))
    notifiers.note(event)
    pushes.note(event)
  }

  func note(_ change: HealthLog.Change) {
    switch change {
    case .begins(let condition):
      note(.health, level: condition.level, id: condition.concern.rawValue, detail: condition.detail)
    case .over(let concern, let time): note(.healthOver, id: concern.rawValue, detail: Self.after(time))
    }
  }

  /// `alarm.note`.
  func note(_ alarm: AlarmNote, from viewer: ViewerSession) throws(ControlError) {
    try admit(AlarmNote.self, of: viewer)
    let created = viewers.credentials.created(viewer.origin.credential)
    let alarm = alarm.limited(since: created.map { Double($0.seconds) } ?? 0, now: MonotonicClock.unixTime)
    // A player's or a guest's alarm wakes nobody else and makes no recording.
    if isParent(viewer) {
      broadcast(
        events.append(
          .alarm, level: alarm.level, time: MonotonicClock.unixTime, name: viewer.name, id: alarm.kind, detail: nil,
          began: alarm.began, acknowledgedAt: alarm.acknowledgedAt))
      recording.heard(.alarm)
    } else {
      let entry = actions.add(
        .alarm, of: known(viewer), id: alarm.kind, time: MonotonicClock.unixTime, began: alarm.began,
        acknowledgedAt: alarm.acknowledgedAt, now: MonotonicClock.now)
      if let entry { broadcast(entry) }
    }
    drill.note(alarm, from: viewer)
  }

  private func note(_ finding: NightWatch.Finding) {
    switch finding {
    case .minute(let minute): events.append(minute)
    case .unheard(let time): note(.unheard, detail: "nobody has been listening for \(Self.text(time))")
    case .heardAgain(let time): note(.heardAgain, detail: Self.after(time))
    case .clockSet(let seconds):
      let words = TimeText.words(seconds: Int64(saturating: abs(seconds)))
      note(.clockSet, detail: "\(words) \(seconds < 0 ? "back" : "forward")")
    }
  }

  private static func after(_ time: Duration) -> String { "after \(text(time))" }

  private static func text(_ time: Duration) -> String { TimeText.words(seconds: time.components.seconds) }

  /// Sends all viewers what has changed since the last call.
  func broadcastChanges() {
    let now = state
    defer { lastSent = now }
    guard let lastSent, let changes = now.changes(since: lastSent) else { return }
    push(.state(changes))
    for (camera, before) in zip(now.cameras, lastSent.cameras) {
      noteDevice(before.state, camera.state, lost: .cameraLost, back: .cameraBack, id: camera.id, camera.name)
      if let isNight = camera.night, before.night != isNight {
        note(.night, id: camera.id, detail: isNight ? "on" : "off")
      }
    }
    let time = MonotonicClock.now
    for (light, before) in zip(
      now.lights.map { $0.document(now: time) }, lastSent.lights.map { $0.document(now: time) })
    where light.state == .off && before.state != .off {
      noteEnd(.light, id: light.id, detail: light.state.rawValue)
    }
    if now.lullaby.state == .stopped, lastSent.lullaby.state != .stopped {
      noteEnd(.lullaby, id: lastSent.lullaby.track, detail: now.lullaby.state.rawValue)
    }
    noteDevice(
      lastSent.microphone.state, now.microphone.state, lost: .microphoneLost, back: .microphoneBack, now.microphone.name
    )
    noteDevice(lastSent.speaker.state, now.speaker.state, lost: .speakerLost, back: .speakerBack, now.speaker.name)
  }

  /// A light or a lullaby has ended. Whoever ended it is in the event of the command; this is for what ended by itself.
  private func noteEnd(_ kind: EventKind, id: String?, detail: String) {
    if lastActions[kind.rawValue + (kind == .light ? id ?? "" : "")] != detail { note(kind, id: id, detail: detail) }
  }

  private func noteDevice(
    _ before: DeviceState, _ now: DeviceState, lost: EventKind, back: EventKind, id: String? = nil, _ detail: String
  ) {
    if before != .missing, now == .missing { note(lost, id: id, detail: detail) }
    if before == .missing, now == .running { note(back, id: id, detail: detail) }
  }

  /// Runs each second.
  private func beat() {
    lights.refresh()
    night.beat()
    recording.beat()
    pushes.beat()
    followClock()
    broadcastChanges()
    for finding in watch.beat() { note(finding) }
    for entry in presence.due(now: MonotonicClock.now) { write(entry) }
    for entry in actions.due(now: MonotonicClock.now) { broadcast(entry) }
    events.saveWhenDue()
    let narrow = narrowPath.beat()
    if let level = narrow.level { push(.level(level)) { $0.isOnNarrowPath } }
    for viewer in viewers.registry.all where viewer.controlChannel != nil {
      let includesPath = !viewer.isOnNarrowPath || narrow.includesPath
      send(.push(.heartbeat(heartbeat(for: viewer, includesPath: includesPath))), to: viewer)
    }
  }

  /// What is done at times of the day.
  private func followClock() {
    let unixTime = MonotonicClock.unixTime
    guard clockSteps.isSettled(unixTime: unixTime, now: MonotonicClock.now) else { return }
    let clock = LocalClock(unixSeconds: unixTime)
    testHearing(clock)
    // Else nothing has set the clock yet.
    if !schedule.isEmpty, unixTime >= Double(TrustedClock.earliest.seconds) { keepSchedule(clock) }
  }

  /// The proof of hearing of each day.
  private func testHearing(_ clock: LocalClock) {
    let isDue = nightlyTest?.isDue(
      day: clock.dayNumber, minutesOfDay: clock.minutesOfDay, hasListeners: !listeners.isEmpty, now: MonotonicClock.now)
    if isDue == true { _ = try? beginHearing(by: .owner) }
  }

  private func keepSchedule(_ clock: LocalClock) {
    for action in schedule.due(day: clock.dayNumber, minutesOfDay: clock.minutesOfDay) { carryOut(action, clock) }
  }

  private func carryOut(_ action: Schedule.Action, _ clock: LocalClock) {
    do throws(ControlError) {
      switch action {
      case .camera(let isOn):
        let minutes = schedule.camera(day: clock.dayNumber, minutesOfDay: clock.minutesOfDay)?.minutesAgo ?? 0
        let time = MonotonicClock.unixTime - Double(minutes * 60 + clock.second)
        // Else it is so already, or somebody has changed it since.
        guard isOn == cameraKeeper.isPaused, time >= cameraKeeper.changedAt else { return }
        _ = setPaused(!isOn)
        note(isOn ? .cameraResumed : .cameraPaused, detail: "by the schedule")
      case .light(let wanted):
        let light = try lights.set(wanted)
        lastActions["light" + light.id] = light.state.rawValue
        note(.light, id: light.id, detail: light.state.rawValue)
      case .lullaby(let wanted):
        let bound = NIOLoopBound(self, eventLoop: loop)
        lullaby.play(wanted).whenComplete { result in bound.value.noteScheduled(result) }
      case .lullabyStop:
        if lullaby.document.state != .stopped { noteScheduled(.success(try lullaby.stop())) }
      }
    } catch {
      note(.scheduleFailed, detail: error.message)
    }
  }

  private func noteScheduled(_ result: Result<LullabyDocument, any Error>) {
    switch result {
    case .success(let lullaby):
      lastActions["lullaby"] = lullaby.state.rawValue
      note(.lullaby, id: lullaby.track, detail: lullaby.state.rawValue)
    case .failure(let error):
      note(.scheduleFailed, detail: (error as? ControlError)?.message ?? "\(error)")
    }
  }

  private func sendLevel() {
    guard viewers.registry.all.contains(where: { $0.controlChannel != nil }) else { return }
    let level = LevelDocument(levelDb: viewers.audio.counters.levelDb.tenths, time: MonotonicClock.unixTime)
    narrowPath.add(level)
    push(.level(level)) { !$0.isOnNarrowPath }
  }

  /// Sends each of these viewers the part it may see.
  private func push(_ push: ControlPush, to isAddressed: (ViewerSession) -> Bool = { _ in true }) {
    // Most viewers may see the same, which is written once for all of them.
    var written: (push: ControlPush, text: String)?
    for viewer in viewers.registry.all where viewer.controlChannel != nil && isAddressed(viewer) {
      guard let visible = visible(push, to: viewer) else { continue }
      let text = if let written, written.push == visible { written.text } else { text(of: .push(visible)) }
      written = (visible, text)
      send(text, to: viewer)
    }
  }

  func send(_ content: ControlMessage.Content, to viewer: ViewerSession) {
    guard viewer.controlChannel != nil else { return }
    guard case .push(let push) = content else { return send(text(of: content), to: viewer) }
    if let visible = visible(push, to: viewer) { send(text(of: .push(visible)), to: viewer) }
  }

  /// What of a push is sent to this viewer; nil: nothing.
  private func visible(_ push: ControlPush, to viewer: ViewerSession) -> ControlPush? {
    // As on a lost link; a planned stop is announced all the same.
    viewer.withheld == .link && !push.isGoodbye ? nil : push.visible(to: viewer.permissions)
  }

  private func text(of content: ControlMessage.Content) -> String {
    messageNumber += 1
    return ControlMessage(id: "c\(messageNumber)", content: content).json
  }

  private func send(_ text: String, to viewer: ViewerSession) {
    guard let channel = viewer.controlChannel else { return }
    viewers.hub.with(viewer.peer) { connection, now in
      // The buffer is full when a viewer has stopped reading; then messages are dropped until its consent expires.
      try? connection.send(.text(text), on: channel, now: now)
    }
  }

  // MARK: Transfers

  /// Queues what `make` returns for this number, to be sent after its reply.
  func begin(for viewer: ViewerSession, _ make: (_ number: UInt32) -> TransferSender) -> TransferDocument {
    transferNumber &+= 1
    let sender = make(transferNumber)
    viewer.transfer = .sending(sender)
    return sender.document
  }

  /// Sends as much of each transfer as fits the channel's buffer, and repeats until all is sent.
  private func sendTransfers() {
    var isUnfinished = false
    for viewer in viewers.registry.byAge {
      guard case .sending(var sender) = viewer.transfer else { continue }
      guard let channel = viewer.controlChannel else {
        viewer.transfer = .none
        continue
      }
      viewers.hub.with(viewer.peer) { connection, now in
        while connection.bufferedAmount(of: channel) < Self.maximumBuffered, let message = sender.message {
          guard (try? connection.send(.binary(message), on: channel, now: now)) != nil else { break }
          sender.advance()
        }
      }
      viewer.transfer = sender.message == nil ? .none : .sending(sender)
      if sender.message != nil { isUnfinished = true }
    }
    guard isUnfinished else {
      pump?.cancel()
      pump = nil
      return
    }
    guard pump == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    pump = loop.scheduleRepeatedTask(initialDelay: .milliseconds(5), delay: .milliseconds(5)) { _ in
      bound.value.sendTransfers()
    }
  }

  /// Small enough that other messages do not wait long behind a transfer.
  private static let maximumBuffered = 128 * 1024
}
