internal import Control
internal import Devices
internal import Frames
internal import Messages
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTPReceiving
internal import SCTP
internal import Server
internal import Signaling
internal import Wire

/// The child's end of every `control` channel: carries out what parents order, and tells all of them what changed.
/// INTERFACES.md, "Data channel".
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ControlService: @unchecked Sendable {
  let viewers: Viewers
  let pairing: PairingService
  let lights: LightBoard
  let sound: SoundOutput
  let lullaby: LullabyService
  let report: StatusReporter
  var floor = TalkFloor()
  /// Viewers that have used `talk.acquire`: what they say without it is not meant for the room.
  var floorAskers: Set<PeerID> = []
  let events: PersistentEventLog
  private var told: NodeState?
  private var messageNumber: UInt64 = 0
  private var transferNumber: UInt32 = 0
  private var transfers: [PeerID: TransferSender] = [:]
  private var pump: RepeatedTask?

  var loop: any EventLoop { viewers.hub.eventLoop }

  init(
    viewers: Viewers, pairing: PairingService, lights: LightBoard, sound: SoundOutput, lullaby: LullabyService,
    report: StatusReporter, events: PersistentEventLog
  ) {
    self.viewers = viewers
    self.pairing = pairing
    self.lights = lights
    self.sound = sound
    self.lullaby = lullaby
    self.report = report
    self.events = events
  }

  /// Takes its place behind the viewers.
  func start() {
    viewers.onEvent = { [weak self] event, viewer in self?.handle(event, of: viewer) }
    viewers.onEnded.append { [weak self] viewer in self?.ended(viewer) }
    pairing.onRevoked.append { [weak self] record in self?.note(.unpaired, id: record.id, detail: record.name) }
    pairing.onWindow.append { [weak self] closing in
      self?.note(closing == nil ? .pairingOpened : .pairingClosed, detail: closing?.words)
    }
    pairing.onPaired = { [weak self] record in self?.note(.paired, id: record.id, detail: record.name) }
    lights.changed = { [weak self] in self?.tellChanges() }
    told = state
    viewers.onLevel = { [weak self] in self?.tellLevel() }
    note(.restart)
  }

  /// Says goodbye to everybody, and leaves the lights as they are configured.
  func stop() {
    pump?.cancel()
    push(.goodbye(reason: "The child is stopping."))
    lights.stop()
  }

  // MARK: What viewers do

  private func handle(_ event: PeerConnectionEvent, of viewer: Viewer) {
    switch event {
    case .dataChannelOpened(let id, let parameters, _):
      guard parameters.label == ControlLimits.channelLabel, parameters.protocolName == ControlLimits.protocolName else {
        return
      }
      viewers.table[viewer.peer]?.controlChannel = id
      send(.push(.hello(hello(for: viewer))), to: viewer.peer)
    case .dataChannelMessage(let id, let message):
      if id == viewer.controlChannel { take(message, from: viewer) }
    case .dataChannelClosed(let id):
      if id == viewer.controlChannel { viewers.table[viewer.peer]?.controlChannel = nil }
    case .audio(let audio):
      hear(audio, from: viewer)
    case .stateChanged(.connected) where !viewer.isConnected:
      if viewers.table[viewer.peer]?.isWatching == true { note(.viewerJoined, viewer: viewer) }
      tellChanges()
    default:
      break
    }
  }

  private func ended(_ viewer: Viewer) {
    transfers[viewer.peer] = nil
    floorAskers.remove(viewer.peer)
    if floor.holder?.viewer == "\(viewer.peer)" { sound.endTalk() }
    floor.release(viewer: "\(viewer.peer)")
    if viewer.isWatching { note(.viewerLeft, viewer: viewer) }
    tellChanges()
  }

  /// Only who has the floor is heard. A player that knows nothing of `talk.acquire` gets it by speaking while it is free.
  private func hear(_ audio: ReceivedAudio, from viewer: Viewer) {
    guard viewer.permissions.contains(.talk) else { return }
    let name = "\(viewer.peer)"
    if floor.holder == nil, !floorAskers.contains(viewer.peer) {
      try? floor.acquire(TalkFloor.Talker(viewer: name, name: viewer.name), force: false)
      tellChanges()
    }
    if floor.holder?.viewer == name { sound.hear(audio) }
  }

  private func take(_ message: DataChannelMessage, from viewer: Viewer) {
    let request: ControlRequest
    do throws(RefusedRequest) {
      guard case .text(let text) = message else { throw ControlRequest.binary }
      request = try ControlRequest(json: text)
    } catch {
      return send(.refusal(to: error.id, error.error), to: viewer.peer)
    }
    do throws(ControlError) {
      try request.command.check(permissions(of: viewer))
      guard let answer = try perform(request.command, for: viewer) else { return }
      let bound = NIOLoopBound(self, eventLoop: loop)
      answer.hop(to: loop).whenComplete { result in
        bound.value.finish(request, of: viewer, with: result)
      }
    } catch {
      send(.refusal(to: request.id, error), to: viewer.peer)
    }
  }

  private func finish(_ request: ControlRequest, of viewer: Viewer, with result: Result<ControlReply, any Error>) {
    switch result {
    case .success(let reply):
      // A command without an id wants no word.
      if let id = request.id { send(.reply(to: id, reply), to: viewer.peer) }
      sendTransfers()
    case .failure(let error as ControlError):
      send(.refusal(to: request.id, error), to: viewer.peer)
    case .failure:
      send(
        .refusal(to: request.id, ControlError(.internal, "The child could not do it; its log says why.")),
        to: viewer.peer)
    }
    tellChanges()
  }

  /// As its pair record is now.
  private func permissions(of viewer: Viewer) -> Permissions {
    guard let id = viewer.pair else { return viewer.permissions }
    guard let peer = pairing.peer(id: id), !peer.isExpired else { return [] }
    return peer.permissions
  }

  // MARK: Telling

  func note(_ kind: EventKind, viewer: Viewer? = nil, id: String? = nil, detail: String? = nil) {
    push(.event(events.append(kind, time: Self.unixTime, name: viewer?.name, id: id, detail: detail)))
  }

  /// Tells everybody what is other than they were told last.
  func tellChanges() {
    let now = state
    defer { told = now }
    guard let told, let changes = now.changes(since: told) else { return }
    push(.state(changes))
    for (camera, before) in zip(now.cameras, told.cameras) {
      noteDevice(before.state, camera.state, lost: .cameraLost, back: .cameraBack, id: camera.id, camera.name)
    }
    noteDevice(
      told.microphone.state, now.microphone.state, lost: .microphoneLost, back: .microphoneBack, now.microphone.name)
    noteDevice(told.speaker.state, now.speaker.state, lost: .speakerLost, back: .speakerBack, now.speaker.name)
  }

  private func noteDevice(
    _ before: DeviceState, _ now: DeviceState, lost: EventKind, back: EventKind, id: String? = nil, _ detail: String
  ) {
    if before != .missing, now == .missing { note(lost, id: id, detail: detail) }
    if before == .missing, now == .running { note(back, id: id, detail: detail) }
  }

  /// Each second.
  func beat() {
    lights.refresh()
    tellChanges()
    events.saveWhenDue(on: loop)
    for viewer in viewers.table.values where viewer.controlChannel != nil {
      send(.push(.heartbeat(heartbeat(for: viewer))), to: viewer.peer)
    }
  }

  private func tellLevel() {
    guard viewers.table.values.contains(where: { $0.controlChannel != nil }) else { return }
    push(.level(LevelDocument(levelDb: tenths(viewers.audio.counters.levelDb), time: Self.unixTime)))
  }

  /// To everybody who may have it.
  private func push(_ push: ControlPush) {
    for viewer in viewers.table.values where viewer.controlChannel != nil {
      send(.push(push), to: viewer.peer)
    }
  }

  private func send(_ content: ControlMessage.Content, to peer: PeerID) {
    guard let viewer = viewers.table[peer], let channel = viewer.controlChannel else { return }
    var content = content
    if case .push(let push) = content {
      guard let visible = push.visible(to: viewer.permissions) else { return }
      content = .push(visible)
    }
    messageNumber += 1
    let text = ControlMessage(id: "c\(messageNumber)", content: content).json
    viewers.hub.with(peer) { connection, now in
      // A viewer that stopped reading fills its buffer; consent ends it, a message more or less does not matter.
      try? connection.send(.text(text), on: channel, now: now)
    }
  }

  static var unixTime: Double { Double(MonotonicClock.unixNanoseconds / 1_000_000) / 1000 }

  // MARK: Pictures

  /// Makes room for a picture behind its reply. Throws `busy` while one is on its way.
  func begin(_ still: StillPictures.Still, for viewer: Viewer) throws -> TransferDocument {
    guard transfers[viewer.peer] == nil else { throw ControlError(.busy, "Another picture is still on its way.") }
    transferNumber &+= 1
    let sender = TransferSender(
      number: transferNumber, bytes: still.jpeg, type: "image/jpeg", width: still.width, height: still.height)
    transfers[viewer.peer] = sender
    return sender.document
  }

  private func sendTransfers() {
    for (peer, sender) in transfers {
      guard let channel = viewers.table[peer]?.controlChannel else {
        transfers[peer] = nil
        continue
      }
      var sender = sender
      viewers.hub.with(peer) { connection, now in
        while connection.bufferedAmount(of: channel) < Self.maximumBuffered, let message = sender.message {
          guard (try? connection.send(.binary(message), on: channel, now: now)) != nil else { break }
          sender.advance()
        }
      }
      transfers[peer] = sender.message == nil ? nil : sender
    }
    guard !transfers.isEmpty else {
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

  /// Other messages do not wait long behind a picture.
  private static let maximumBuffered = 128 * 1024
}

/// To one decimal.
func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
