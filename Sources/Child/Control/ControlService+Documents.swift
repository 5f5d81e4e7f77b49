internal import Control
internal import Devices
internal import Frames
internal import Linux
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTPSending
internal import Server
internal import Storage
internal import TURN
internal import Wire

// Describes the child for hello, state, status and heartbeat.
extension ControlService {
  var state: NodeState {
    NodeState(
      time: MonotonicClock.now, lights: lights.states, lullaby: lullaby.document, cameras: cameras,
      talk: floor.document,
      viewers: viewers.registry.byAge.map(document),
      microphone: viewers.audio.microphone.document, speaker: sound.speaker.document,
      hearing: hearing.document, drill: drill.document, schedule: scheduled)
  }

  private var scheduled: [ScheduledDocument]? {
    guard !schedule.isEmpty else { return nil }
    let clock = LocalClock(unixSeconds: MonotonicClock.unixTime)
    return schedule.next(day: clock.dayNumber, minutesOfDay: clock.minutesOfDay).map { ScheduledDocument($0) }
  }

  var cameras: [CameraDocument] {
    let nights = night.states
    return viewers.cameras.enumerated().map { index, track in
      let pipeline = track.pipeline
      var document = CameraDocument(
        id: pipeline.settings.cameraID, name: "\(pipeline.settings.device)",
        title: cameraKeeper.titles[pipeline.settings.cameraID], active: index == viewers.activeCamera,
        state: pipeline.camera.deviceState)
      if nights.indices.contains(index) {
        document.night = nights[index].isNight
        document.infrared = nights[index].infrared
      }
      switch pipeline.camera {
      case .off, .opening: break
      case .running(let info):
        document.name = info.name
        document.width = info.width
        document.height = info.height
      case .missing(let error):
        document.name = "\(error)"
      }
      return document
    }
  }

  private func document(_ viewer: ViewerSession) -> ViewerDocument {
    let age = (MonotonicClock.now - viewer.since).inSeconds
    return ViewerDocument(
      id: viewer.id, name: viewer.name, permissions: viewer.permissions.names,
      since: (MonotonicClock.unixTime - age).rounded())
  }

  func hello(for viewer: ViewerSession) -> HelloDocument {
    var devices: Set<ControlDevice> = []
    if !lights.isEmpty { devices.insert(.light) }
    if !viewers.cameras.isEmpty { devices.insert(.camera) }
    if recording.isConfigured { devices.insert(.recorder) }
    if case .off = sound.speaker {} else { devices.insert(.speaker) }
    return HelloDocument(
      name: viewers.settings.childName, id: viewers.settings.childID, version: viewers.settings.version,
      capabilities: ControlCommands.capabilities(devices), permissions: viewer.permissions.names, viewer: viewer.id,
      state: state.document, away: viewer.pair.map(away), origins: viewer.pair == nil ? nil : origins)
  }

  /// What a parent may know of the home. `relay: only` hides its addresses.
  private var origins: [String]? {
    viewers.servers.away.relay == .only ? nil : report.namedOrigins
  }

  /// For paired parents: tokens are for players in the home, which learn it from WHEP's `Link` fields.
  private func away(for pair: String) -> AwayDocument {
    let timeLeft = viewers.credentials.timeLeft(of: .pair(id: pair))
    return AwayDocument(
      iceServers: viewers.servers.servers(for: pair, timeLeft: timeLeft).map(\.document),
      meetings: meetings.documents(includingAccounts: timeLeft == nil))
  }

  var status: StatusDocument {
    let report = report.report()
    return StatusDocument(
      name: report.name, id: report.id, version: report.version, time: MonotonicClock.unixTime,
      uptimeSeconds: report.uptimeSeconds, alarms: report.alarms, state: state.document)
  }

  func heartbeat(for viewer: ViewerSession, includesPath: Bool) -> HeartbeatDocument {
    let pipeline = viewers.pipeline(of: viewer)
    let video = pipeline?.counters ?? .init()
    let audio = viewers.audio.counters
    let connection = viewers.hub.connection(viewer.peer)?.statistics(now: MonotonicClock.now)
    let streams = connection?.outboundRTP ?? []
    let sent = { (kind: RTPMediaKind) in streams.first { $0.kind == kind }?.packetsSent ?? 0 }
    let latest = streams.first { $0.kind == .video }?.latest
    return HeartbeatDocument(
      time: MonotonicClock.unixTime, uptimeSeconds: (MonotonicClock.now - viewers.started).inSeconds.rounded(.down),
      video: .init(
        state: pipeline?.camera.deviceState ?? .off, captured: video.captured, encoded: video.encoded,
        keyFrames: video.keyFrames, sent: sent(.video),
        targetKbps: pipeline?.targetKbps(for: viewer.route.assignment.rendition, in: viewer.codec) ?? 0,
        fault: pipeline?.camera.fault, picture: viewers.picture(of: viewer), rtpTimestamp: latest?.rtpTimestamp,
        captureTimestamp: latest.map { $0.captureTimestamp.tenths }),
      audio: .init(
        state: viewers.audio.microphone.deviceState, captured: audio.captured, encoded: audio.encoded,
        sent: sent(.audio), levelDb: audio.levelDb.tenths,
        fault: viewers.audio.microphone.fault),
      path: includesPath ? connection.map { PathDocument($0.path) } : nil)
  }
}
