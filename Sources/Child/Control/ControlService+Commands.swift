internal import Control
internal import Devices
internal import Frames
internal import NIOCore
internal import Pairing
internal import Pipelines
internal import QRCode
internal import Signaling
internal import Storage
internal import Wire

// Executes the commands.
extension ControlService {
  /// Nil when there is no reply.
  func perform(_ command: ControlCommand, for viewer: ViewerSession) throws(ControlError) -> EventLoopFuture<
    ControlReply
  >? {
    switch command {
    case .ping: done(.time(Self.unixTime))
    case .statusGet: done(.status(status))
    case .eventsGet(let since, let limit, let level):
      events.events(since: since, limit: limit, level: level).map { .events($0) }
    case .reportGet(let request): try makeReport(request, for: viewer)
    case .hearingTest: done(.hearing(try testHearing(for: viewer)))
    case .hearingHeard(let note): done(take(note, viewer))
    case .drillStart(let stages): done(.drill(try startDrill(stages, for: viewer)))
    case .drillStop: done(try endDrill(for: viewer))
    case .alarmNote(let alarm): done(try note(alarm, viewer))
    case .lightSet(let setting): try light(lights.set(setting), viewer)
    case .lightFlash(let pattern): try light(lights.flash(pattern), viewer)
    case .lullabyList: lullaby.list().map { .tracks($0) }
    case .lullabyPlay(let request): noting(lullaby.play(request), viewer)
    case .lullabyNext: noting(lullaby.next(), viewer)
    case .lullabyStop: noting(done(try lullaby.stop()), viewer)
    case .lullabyPause: noting(done(try lullaby.pause()), viewer)
    case .lullabyResume: noting(done(try lullaby.resume()), viewer)
    case .lullabyVolume(let percent): done(.lullaby(try lullaby.setVolume(percent)))
    case .cameraList: done(.cameras(cameras))
    case .cameraSwitch(let id): done(.cameras(try switchCamera(to: id, viewer)))
    case .recordingsList(let from, let to): recording.list(from: from, to: to).map { .recordings($0) }
    case .recordingsRead(let id, let offset): try readRecording(id, from: offset, for: viewer)
    case .recordingsStart: done(try record(true, viewer))
    case .recordingsStop: done(try record(false, viewer))
    case .screenshotTake(let camera, let quality): try screenshot(of: camera, quality: quality, for: viewer)
    case .talkAcquire(let force): done(.talk(try acquireFloor(for: viewer, force: force)))
    case .talkRelease: done(.talk(releaseFloor(of: viewer)))
    case .pushKey: try pushes.describe(to: viewer.pair).map { .pushKey($0) }
    case .pushSubscribe(let request): try pushes.subscribe(request, for: viewer.pair).map { .done }
    case .pushUnsubscribe: done(unsubscribe(viewer))
    case .pushTest: try pushes.test(viewer.pair).map { .pushTest($0) }
    case .pairingOpen(let admin): openPairing(admin: admin, for: viewer)
    case .pairingClose:
      closePairing()
    case .pairsList: done(.pairs(pairing.records.map(PairDocument.init)))
    case .pairRemove(let id): try removePair(id, for: viewer)
    case .inviteCreate(let request): invite(request, for: viewer)
    }
  }

  private func makeReport(
    _ request: ReportRequest, for viewer: ViewerSession
  ) throws(ControlError) -> EventLoopFuture<ControlReply> {
    // Nobody else can keep events from being counted together by asking again and again.
    if isParent(viewer) {
      writeWaitingEvents()
    } else if lentReports.admit(viewer.origin.credential, now: MonotonicClock.now).wait != nil {
      throw ControlError(.busy, "Too many reports; the limit is one in 10 seconds.")
    }
    return events.report(request, now: Self.unixTime).map { .report($0) }
  }

  private func done<Value: Sendable>(_ value: Value) -> EventLoopFuture<Value> { loop.makeSucceededFuture(value) }

  private func take(_ note: HearingNote, _ viewer: ViewerSession) -> ControlReply {
    hearing.note(note, from: viewer)
    return .done
  }

  private func endDrill(for viewer: ViewerSession) throws(ControlError) -> ControlReply {
    try stopDrill(for: viewer)
    return .done
  }

  private func note(_ alarm: AlarmNote, _ viewer: ViewerSession) throws(ControlError) -> ControlReply {
    try note(alarm, from: viewer)
    return .done
  }

  private func unsubscribe(_ viewer: ViewerSession) -> ControlReply {
    pushes.unsubscribe(viewer.pair)
    return .done
  }

  private func light(_ document: LightDocument, _ viewer: ViewerSession) -> EventLoopFuture<ControlReply> {
    note(.light, by: viewer, id: document.id, detail: document.state.rawValue)
    return done(.light(document))
  }

  private func noting(
    _ answer: EventLoopFuture<LullabyDocument>, _ viewer: ViewerSession
  ) -> EventLoopFuture<ControlReply> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return answer.map { document in
      bound.value.note(.lullaby, by: viewer, id: document.track, detail: document.state.rawValue)
      return .lullaby(document)
    }
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
      guard cameraSwitches.admit(viewer.origin.credential, now: MonotonicClock.now) == .admitted else {
        throw ControlError(.busy, "The view changes for everybody. Switch once a second at most.")
      }
      viewers.switchCamera(to: index)
      note(.cameraSwitched, by: viewer, id: viewers.cameras[index].pipeline.settings.cameraID)
    }
    return cameras
  }

  private func screenshot(
    of camera: String?, quality: Int?, for viewer: ViewerSession
  ) throws(ControlError) -> EventLoopFuture<ControlReply> {
    guard !viewers.cameras.isEmpty else { throw ControlError(.unavailable, "The baby unit has no camera.") }
    let index = try camera.map { id throws(ControlError) in try cameraIndex(id) } ?? viewers.activeCamera
    if case .none = viewer.transfer, !isParent(viewer),
      lentPhotos.admit(viewer.origin.credential, now: MonotonicClock.now).wait != nil
    {
      throw ControlError(.busy, "Too many photos; the limit is one in 2 seconds.")
    }
    try beginTransfer(to: viewer)
    let pipeline = viewers.cameras[index].pipeline
    let bound = NIOLoopBound(self, eventLoop: loop)
    return StillPictures.take(pipeline, quality: quality ?? ControlDefaults.quality, on: loop).map { still in
      let document = bound.value.begin(for: viewer) { number in
        TransferSender(
          number: number, bytes: still.jpeg, type: "image/jpeg", width: still.width, height: still.height)
      }
      bound.value.note(.screenshot, by: viewer, id: pipeline.settings.cameraID)
      return .transfer(document)
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
  ) throws(ControlError) -> EventLoopFuture<ControlReply> {
    try beginTransfer(to: viewer)
    let bound = NIOLoopBound(self, eventLoop: loop)
    return recording.read(id, from: offset).map { piece in
      .transfer(
        bound.value.begin(for: viewer) { number in
          TransferSender(number: number, bytes: piece.bytes, type: "video/webm", total: piece.total)
        })
    }.always { result in
      if case .failure = result { viewer.transfer = .none }
    }
  }

  private func record(_ begins: Bool, _ viewer: ViewerSession) throws(ControlError) -> ControlReply {
    if begins { try recording.begin(by: viewer.name) } else { try recording.end() }
    return .done
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

  private func openPairing(admin: Bool, for viewer: ViewerSession) -> EventLoopFuture<ControlReply> {
    // Only a pair record can have `admin`; a session with a token never gets this far.
    guard let pair = viewer.pair else {
      return loop.makeFailedFuture(ControlError(PairingService.OfferRefusal.issuerMayNot))
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return pairing.open(by: .parent(id: pair), admin: admin).map { opened in
      let link = "\(PairingLink(origin: bound.value.report.origin, secret: opened.offer.secret))"
      return .pairing(
        PairingDocument(
          code: "\(opened.offer.code)", link: link, expiresAt: Self.unixTime + opened.closesIn.inSeconds,
          allow: opened.terms.permissions.names, qr: QRCode(link)?.rows))
    }.flatMapErrorThrowing { error in
      throw (error as? PairingService.OfferRefusal).map { ControlError($0) } ?? error
    }
  }

  private func closePairing() -> EventLoopFuture<ControlReply> {
    pairing.close()
    return done(.done)
  }

  /// The reply is sent before the session ends.
  private func removePair(_ id: String?, for viewer: ViewerSession) throws(ControlError) -> EventLoopFuture<
    ControlReply
  > {
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
    return pairing.stored().map { ControlReply.done }.flatMapErrorThrowing { error in
      throw ControlError(
        .internal,
        "Removed, and not kept yet: \(error). It has no access now. The camera writes it as soon as it can; until then a "
          + "restart of the camera would bring it back.")
    }
  }

  private func invite(_ request: InviteRequest, for viewer: ViewerSession) -> EventLoopFuture<ControlReply> {
    let bound = NIOLoopBound((self, viewer), eventLoop: loop)
    return pairing.ready().flatMapThrowing { _ in
      .invite(try bound.value.0.invited(request, for: bound.value.1))
    }.flatMapErrorThrowing { error in
      throw (error as? PairingService.OfferRefusal).map { ControlError($0) } ?? error
    }
  }

  private func invited(_ request: InviteRequest, for viewer: ViewerSession) throws(ControlError) -> InviteDocument {
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
  init(_ record: PairRecord) {
    self.init(
      id: record.id, name: record.name, permissions: record.permissions.names,
      createdAt: Double(record.createdAt.seconds), lastSeenAt: record.lastSeenAt.map { Double($0.seconds) },
      expiresAt: record.expiresAt.map { Double($0.seconds) })
  }
}
