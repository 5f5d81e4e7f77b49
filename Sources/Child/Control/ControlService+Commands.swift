internal import Control
internal import Frames
internal import NIOCore
internal import Pairing
internal import Pipelines
internal import QRCode
internal import Signaling
internal import Storage
internal import Wire

// Carries out the commands.
extension ControlService {
  func makeRouter() -> CommandRouter<ViewerSession> {
    unowned let me = self
    var router = CommandRouter<ViewerSession>(loop: loop)
    router.on(Ping.self) { _, _ in Ping.Reply(time: MonotonicClock.unixTime) }
    router.on(StatusGet.self) { _, _ in me.status }
    router.on(EventsGet.self) { get, _ in me.events.events(since: get.since, limit: get.limit, level: get.level) }
    router.on(ReportGet.self) { get, viewer in
      // Nobody else can keep events from being counted together by asking again and again.
      if me.isParent(viewer) { me.writeWaitingEvents() }
      try me.admit(ReportGet.self, of: viewer)
      return me.events.report(get, now: MonotonicClock.unixTime)
    }
    router.on(HearingTestStart.self) { _, viewer in try me.testHearing(for: viewer) }
    router.on(HearingHeard.self) { heard, viewer in me.hearing.note(heard, from: viewer) }
    router.on(DrillStart.self) { try me.startDrill($0.stages ?? DrillDocument.Stage.allCases, for: $1) }
    router.on(DrillStop.self) { _, viewer in try me.stopDrill(for: viewer) }
    router.on(AlarmNote.self) { alarm, viewer in try me.note(alarm, from: viewer) }
    router.on(LightSet.self) { try me.noted(me.lights.set($0), by: $1) }
    router.on(LightFlash.self) { try me.noted(me.lights.flash($0), by: $1) }
    router.on(LullabyList.self) { _, _ in me.lullaby.list() }
    router.on(LullabyPlay.self) { me.noted(me.lullaby.play($0), by: $1) }
    router.on(LullabyNext.self) { _, viewer in me.noted(me.lullaby.next(), by: viewer) }
    router.on(LullabyStop.self) { _, viewer in me.noted(try me.lullaby.stop(), by: viewer) }
    router.on(LullabyPause.self) { _, viewer in me.noted(try me.lullaby.pause(), by: viewer) }
    router.on(LullabyResume.self) { _, viewer in me.noted(try me.lullaby.resume(), by: viewer) }
    router.on(LullabyVolume.self) { volume, _ in try me.lullaby.setVolume(volume.volume) }
    router.on(CameraList.self) { _, _ in me.cameras }
    router.on(CameraSwitch.self) { try me.switchCamera(to: $0.id, $1) }
    router.on(CameraName.self) { wanted, _ in
      _ = try me.cameraIndex(wanted.id)
      let bound = NIOLoopBound(me, eventLoop: me.loop)
      return try me.cameraKeeper.set(wanted.title, of: wanted.id).map { bound.value.cameras }
    }
    router.on(CameraPause.self) { _, viewer in me.setPaused(true, by: viewer) }
    router.on(CameraResume.self) { _, viewer in me.setPaused(false, by: viewer) }
    router.on(RecordingsList.self) { list, _ in me.recording.list(from: list.from, to: list.to) }
    router.on(RecordingsRead.self) { try me.readRecording($0.id, from: $0.offset ?? 0, for: $1) }
    router.on(RecordingsStart.self) { _, viewer in try me.recording.begin(by: viewer.name) }
    router.on(RecordingsStop.self) { _, _ in try me.recording.end() }
    router.on(ScreenshotTake.self) { try me.takeScreenshot($0, for: $1) }
    router.on(TalkAcquire.self) { try me.acquireFloor(for: $1, force: $0.force == true) }
    router.on(TalkRelease.self) { _, viewer in me.releaseFloor(of: viewer) }
    router.on(PushKeyGet.self) { _, viewer in try me.pushes.describe(to: viewer.pair) }
    router.on(PushSubscribe.self) { try me.pushes.subscribe($0, for: $1.pair) }
    router.on(PushUnsubscribe.self) { _, viewer in me.pushes.unsubscribe(viewer.pair) }
    router.on(PushTest.self) { _, viewer in try me.pushes.test(viewer.pair) }
    router.on(PairingOpen.self) { me.openPairing(admin: $0.admin == true, for: $1) }
    router.on(PairingClose.self) { _, _ in me.pairing.close() }
    router.on(PairsList.self) { _, _ in
      me.pairing.records.map { PairDocument($0, words: me.pairing.checkWords(ofPair: $0.id)) }
    }
    router.on(PairRemove.self) { try me.removePair($0.id, for: $1) }
    router.on(InviteCreate.self) { me.invite($0, for: $1) }
    precondition(
      ControlCommands.all.allSatisfy { router.named($0.name) == $0 }, "a command that is announced has its handler")
    return router
  }

  /// Throws `busy` when the caller has given this command as often as its rate allows.
  func admit<Command: ControlCommand>(_: Command.Type, of viewer: ViewerSession) throws(ControlError) {
    guard let rate = Command.rate, !(rate.sparesParents && isParent(viewer)) else { return }
    let full = RateLimiter<Credential>(burst: rate.burst, interval: rate.interval)
    let verdict = rates[Command.name, default: full].admit(viewer.origin.credential, now: MonotonicClock.now)
    guard verdict == .admitted else { throw ControlError(.busy, rate.refusal) }
  }

  private func noted(_ light: LightDocument, by viewer: ViewerSession) -> LightDocument {
    lastActions["light" + light.id] = light.state.rawValue
    note(.light, by: viewer, id: light.id, detail: light.state.rawValue)
    return light
  }

  private func noted(_ lullaby: LullabyDocument, by viewer: ViewerSession) -> LullabyDocument {
    lastActions["lullaby"] = lullaby.state.rawValue
    note(.lullaby, by: viewer, id: lullaby.track, detail: lullaby.state.rawValue)
    return lullaby
  }

  private func noted(
    _ lullaby: EventLoopFuture<LullabyDocument>, by viewer: ViewerSession
  ) -> EventLoopFuture<LullabyDocument> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return lullaby.map { bound.value.noted($0, by: viewer) }
  }

  // MARK: Cameras

  private func cameraIndex(_ id: String) throws(ControlError) -> Int {
    guard let index = viewers.cameraIndex(id) else {
      let known = viewers.cameras.map(\.pipeline.settings.cameraID).joined(separator: ", ")
      throw ControlError(.badParameters, "No view called \"\(id)\". There are: \(known).")
    }
    return index
  }

  private func switchCamera(to id: String?, _ viewer: ViewerSession) throws(ControlError) -> [CameraDocument] {
    guard !viewers.cameras.isEmpty else { throw ControlError(.unavailable, "The baby unit has no camera.") }
    let index =
      try id.map { id throws(ControlError) in try cameraIndex(id) }
      ?? (viewers.activeCamera + 1) % viewers.cameras.count
    if index != viewers.activeCamera {
      try admit(CameraSwitch.self, of: viewer)
      viewers.switchCamera(to: index)
      note(.cameraSwitched, by: viewer, id: viewers.cameras[index].pipeline.settings.cameraID)
    }
    return cameras
  }

  private func setPaused(_ isPaused: Bool, by viewer: ViewerSession) -> EventLoopFuture<[CameraDocument]> {
    if isPaused != cameraKeeper.isPaused { note(isPaused ? .cameraPaused : .cameraResumed, by: viewer, id: nil) }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return setPaused(isPaused).map { bound.value.cameras }
  }

  /// Holds at once. Succeeds once it is on disk.
  func setPaused(_ isPaused: Bool) -> EventLoopFuture<Void> {
    for camera in viewers.cameras { camera.pipeline.setPaused(isPaused) }
    return cameraKeeper.setPaused(isPaused)
  }

  private func takeScreenshot(
    _ wanted: ScreenshotTake, for viewer: ViewerSession
  ) throws(ControlError) -> EventLoopFuture<TransferDocument> {
    guard !viewers.cameras.isEmpty else { throw ControlError(.unavailable, "The baby unit has no camera.") }
    let index = try wanted.camera.map { id throws(ControlError) in try cameraIndex(id) } ?? viewers.activeCamera
    if case .none = viewer.transfer { try admit(ScreenshotTake.self, of: viewer) }
    try beginTransfer(to: viewer)
    let pipeline = viewers.cameras[index].pipeline
    let bound = NIOLoopBound(self, eventLoop: loop)
    return StillPictures.take(pipeline, quality: wanted.quality ?? ControlDefaults.quality, on: loop).map { still in
      let document = bound.value.begin(for: viewer) { number in
        TransferSender(
          number: number, bytes: still.jpeg, type: "image/jpeg", width: still.width, height: still.height)
      }
      bound.value.note(.screenshot, by: viewer, id: pipeline.settings.cameraID)
      return document
    }.always { result in
      if case .failure = result { viewer.transfer = .none }
    }
  }

  private func beginTransfer(to viewer: ViewerSession) throws(ControlError) {
    guard case .none = viewer.transfer else {
      throw ControlError(.busy, "Your last request is still on its way.")
    }
    viewer.transfer = .beingMade
  }

  // MARK: Recordings

  private func readRecording(
    _ id: String, from offset: Int, for viewer: ViewerSession
  ) throws(ControlError) -> EventLoopFuture<TransferDocument> {
    try beginTransfer(to: viewer)
    let bound = NIOLoopBound(self, eventLoop: loop)
    return recording.read(id, from: offset).map { piece in
      bound.value.begin(for: viewer) { number in
        TransferSender(number: number, bytes: piece.bytes, type: "video/webm", total: piece.total)
      }
    }.always { result in
      if case .failure = result { viewer.transfer = .none }
    }
  }

  // MARK: Talk

  private func acquireFloor(for viewer: ViewerSession, force: Bool) throws(ControlError) -> TalkDocument {
    viewer.hasAskedForFloor = true
    try sound.requireSpeaker()
    let before = floor.holder
    try takeFloor(for: viewer, force: force)
    if before?.viewer != viewer.id { note(.talk, by: viewer, id: nil, detail: "begins") }
    return floor.document
  }

  private func releaseFloor(of viewer: ViewerSession) -> TalkDocument {
    if floor.holder?.viewer == viewer.id { note(.talk, by: viewer, id: nil, detail: "ends") }
    floor.release(viewer: viewer.id)
    return floor.document
  }

  // MARK: Pairs

  private func openPairing(admin: Bool, for viewer: ViewerSession) -> EventLoopFuture<PairingDocument> {
    // Only a pair record can have `admin`; a session with a token never gets this far.
    guard let pair = viewer.pair else {
      return loop.makeFailedFuture(ControlError(PairingService.OfferRefusal.issuerMayNot))
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return pairing.open(by: .parent(id: pair), admin: admin).map { opened in
      let link = "\(PairingLink(origin: bound.value.report.origin, secret: opened.offer.secret))"
      return PairingDocument(
        code: "\(opened.offer.code)", link: link, expiresAt: MonotonicClock.unixTime + opened.closesIn.inSeconds,
        allow: opened.terms.permissions.names, qr: QRCode(link)?.rows)
    }.flatMapErrorThrowing { error in
      throw (error as? PairingService.OfferRefusal).map { ControlError($0) } ?? error
    }
  }

  /// The reply is sent before the session ends.
  private func removePair(_ id: String?, for viewer: ViewerSession) throws(ControlError) -> EventLoopFuture<Done> {
    guard let id = id ?? viewer.pair else {
      throw ControlError(.unavailable, "This session was opened with a token; there is no pair to remove.")
    }
    guard let record = pairing.record(id: id) else {
      throw .badParameter("id", "is of nobody who is paired; pairs.list lists who is")
    }
    do throws(StoreError) {
      try pairing.revoke(id: record.id, endingSessionsAfter: id == viewer.pair ? .milliseconds(100) : nil)
    } catch {
      throw ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
    }
    return pairing.stored().map { Done() }.flatMapErrorThrowing { error in
      throw ControlError(notKept: error, "It has no access now.")
    }
  }

  private func invite(_ request: InviteCreate, for viewer: ViewerSession) -> EventLoopFuture<InviteDocument> {
    let bound = NIOLoopBound((self, viewer), eventLoop: loop)
    return pairing.ready().flatMapThrowing { _ in
      try bound.value.0.invited(request, for: bound.value.1)
    }.flatMapErrorThrowing { error in
      throw (error as? PairingService.OfferRefusal).map { ControlError($0) } ?? error
    }
  }

  private func invited(_ request: InviteCreate, for viewer: ViewerSession) throws(ControlError) -> InviteDocument {
    guard let pair = viewer.pair else { throw ControlError(PairingService.OfferRefusal.issuerMayNot) }
    let seconds = request.seconds ?? ControlDefaults.inviteSeconds
    let end = UnixTime(seconds: pairing.now.seconds + Int64(seconds))
    let name = request.name ?? "Guest"
    let wanted = PairingTerms(permissions: request.allow ?? [.view, .listen], name: name, expiresAt: end)
    do throws(PairingService.OfferRefusal) {
      let (secret, terms) = try pairing.invite(wanted, for: .seconds(seconds), by: .parent(id: pair))
      let link = "\(PairingLink(origin: report.origin, secret: secret))"
      return InviteDocument(
        name: name, link: link, allow: terms.permissions.names, expiresAt: Double((terms.expiresAt ?? end).seconds),
        qr: QRCode(link)?.rows)
    } catch {
      throw ControlError(error)
    }
  }
}

extension ControlError {
  fileprivate init(_ refusal: PairingService.OfferRefusal) {
    switch refusal {
    case .issuerMayNot: self.init(.notPermitted, "Only a paired parent with the permission admin may let others in.")
    case .exceedsIssuer(let permissions):
      self.init(
        .notPermitted,
        "You cannot give what you do not have: \(permissions.names.joined(separator: ", ")). Leave it out of --allow.")
    case .dateUnknown:
      self.init(
        .unavailable,
        "The baby unit does not know the date yet, so access cannot expire. It needs the Internet or a clock.")
    case .cannotStore(let error):
      // Names no files: whoever reads it is not at this machine.
      let reason = if case .file(let file) = error { file.reason } else { "its log says why" }
      self.init(.unavailable, "The camera could not keep whoever comes in, so nobody is let in: \(reason).")
    case .tooManyInvites:
      self.init(
        .busy,
        "There are as many invitations as there may be. Wait until some are used or over, or end them on the child: "
          + "cradle-child invites revoke ID.")
    }
  }
}

extension PairDocument {
  init(_ record: PairRecord, words: CheckWords?) {
    self.init(
      id: record.id, name: record.name, permissions: record.permissions.names,
      createdAt: Double(record.createdAt.seconds), lastSeenAt: record.lastSeenAt.map { Double($0.seconds) },
      expiresAt: record.expiresAt.map { Double($0.seconds) }, words: words?.description)
  }
}

extension ControlError {
  /// Something was removed, and that could not be stored: it is tried again and again.
  ///
  /// - Parameter now: how it is until then.
  init(notKept error: any Error, _ now: String) {
    self.init(
      .internal,
      "Removed, and not kept yet: \(error). \(now) The camera writes it as soon as it can; until then a restart of the "
        + "camera would bring it back.")
  }
}
