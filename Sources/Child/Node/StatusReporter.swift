internal import Control
internal import DeviceNames
internal import Devices
internal import Frames
internal import ICE
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import RTPSending
internal import Server
internal import Synchronization
internal import VideoFormats
internal import Wire

/// Collects the figures for `status` and `/metrics`. Called on the event loop.
final class StatusReporter: Sendable {
  private let name: String
  private let id: String
  private let started: Instant
  private let viewers: Viewers
  private let bridge: LoopBridge
  private let night: NightBoard
  private let sound: SoundOutput
  private let notifiers: NotifierBoard
  private let pushes: PushService
  private let refused: RefusedPlayers
  /// As configured.
  private let listenHost: String
  private let port = Atomic<Int>(0)
  /// 0: there is none.
  private let rtspPort = Atomic<Int>(0)

  init(
    name: String, id: String, started: Instant, viewers: Viewers, bridge: LoopBridge, night: NightBoard,
    sound: SoundOutput, notifiers: NotifierBoard, pushes: PushService, refused: RefusedPlayers, listenHost: String
  ) {
    self.refused = refused
    self.name = name
    self.id = id
    self.started = started
    self.viewers = viewers
    self.bridge = bridge
    self.night = night
    self.sound = sound
    self.notifiers = notifiers
    self.pushes = pushes
    self.listenHost = listenHost
  }

  func setPort(_ port: Int) {
    self.port.store(port, ordering: .relaxed)
  }

  func setRTSPPort(_ port: Int) {
    rtspPort.store(port, ordering: .relaxed)
  }

  /// `https://192.0.2.7:8443`: the address at which other machines of the house probably reach this one.
  var origin: String { origins[0] }

  /// One for each network that leads here, the likeliest first; at least one.
  var origins: [String] {
    let hosts: [String]
    switch IPAddress(listenHost) {
    case let address? where !address.isUnspecified: hosts = [Self.host(address)]
    case nil where !listenHost.isEmpty: hosts = [listenHost]
    default: hosts = LocalAddresses.house().compactMap(\.first).map(Self.host)
    }
    return (hosts.isEmpty ? ["localhost"] : hosts.prefix(Self.maximumOrigins)).map(origin)
  }

  /// Why no other device can connect; nil when it can.
  var networkTrouble: String? { NetworkCheck.trouble(listen: listenHost) }

  /// The same, after the machine's name in the house, which stays when its address changes.
  var namedOrigins: [String] { NodeHosts.current(listen: listenHost).names.map(origin) + origins }

  private func origin(_ host: some StringProtocol) -> String { "https://\(host):\(port.load(ordering: .relaxed))" }

  private static let maximumOrigins = 4

  /// As in a URL.
  private static func host(_ address: IPAddress) -> String { address.isIPv6 ? "[\(address)]" : "\(address)" }

  func report() -> StatusReport {
    let nights = night.states
    let cameras = viewers.cameras.enumerated().map { index, track in
      camera(index, track.pipeline, nights.indices.contains(index) ? nights[index] : nil)
    }
    let microphone = microphone()
    var alarms: [String] = []
    for camera in cameras where camera.state == "missing" {
      alarms.append("Camera \(camera.id) is missing: \(camera.detail)")
    }
    for camera in cameras where camera.infrared == "missing" {
      alarms.append("The infrared lamp of camera \(camera.id) is missing; `cradle-child doctor` says why")
    }
    if microphone.state == "missing" { alarms.append("The microphone is missing: \(microphone.detail)") }
    let speaker = speaker()
    // A board that has none is as it should be, unless one is configured.
    if speaker.state == "missing", sound.device != .auto { alarms.append("The speaker is missing: \(speaker.detail)") }
    let notifiers = notifiers.statuses
    for notifier in notifiers where notifier.state == "failing" {
      alarms.append("Notifier \(notifier.name) fails: \(notifier.lastError ?? "")")
    }
    let pushes = pushes.statuses
    for push in pushes where push.state == "failing" {
      alarms.append("The \(push.name) fails: \(push.lastError ?? "")")
    }
    let contactTrouble = self.pushes.contactTrouble
    if let contactTrouble { alarms.append("Pushed alarms: \(contactTrouble)") }
    let refused = refused.report()
    let rtspPort = rtspPort.load(ordering: .relaxed)
    return StatusReport(
      name: name, id: id, version: ChildNode.version, uptimeSeconds: (MonotonicClock.now - started).inSeconds.tenths,
      port: port.load(ordering: .relaxed), mediaPort: Int(viewers.hub.port),
      rtspPort: rtspPort == 0 ? nil : rtspPort, cameras: cameras, microphone: microphone,
      speaker: speaker, viewers: viewers.registry.byAge.map(viewer),
      refused: refused.isEmpty ? nil : refused,
      datagrams: .init(lost: viewers.hub.lostDatagrams, ignored: viewers.hub.strayDatagrams),
      notifiers: notifiers.isEmpty ? nil : notifiers, pushes: pushes.isEmpty ? nil : pushes,
      pushTrouble: contactTrouble, alarms: alarms)
  }

  private func camera(_ index: Int, _ video: VideoPipeline, _ night: NightBoard.State?) -> StatusReport.Camera {
    let counters = video.counters
    var camera = StatusReport.Camera(
      id: video.settings.cameraID, device: "\(video.settings.device)", state: video.camera.deviceState.rawValue,
      detail: "",
      captured: counters.captured, encoded: counters.encoded, keyFrames: counters.keyFrames,
      dropped: bridge.droppedFrames(ofCamera: index), targetKbps: video.targetKbps,
      encodeMilliseconds: counters.encoded == 0
        ? nil : (Double(counters.encodeNanoseconds) / Double(counters.encoded) / 1e6).hundredths,
      encoderSpeed: counters.speed)
    (camera.damaged, camera.damagedPercent) = (video.damage.dropped, video.damage.percent)
    camera.renditions = renditions(index, video)
    camera.night = night?.isNight
    camera.brightness = night?.brightness.map(\.hundredths)
    camera.infrared = night?.infrared?.rawValue
    switch video.camera {
    case .off, .opening: break
    case .running(let info):
      camera.detail = info.name
      camera.width = info.width
      camera.height = info.height
      camera.framesPerSecond = info.framesPerSecond.hundredths
      camera.pixelFormat = info.pixelFormat
      if !info.controlProblems.isEmpty { camera.controlProblems = info.controlProblems }
      if !info.remarks.isEmpty { camera.remarks = info.remarks }
    case .missing(let error):
      camera.detail = "\(error)"
    }
    return camera
  }

  private func renditions(_ index: Int, _ video: VideoPipeline) -> [StatusReport.Rendition] {
    guard video.isEncoding else { return [] }
    let (targets, counters) = (video.targets, video.renditionCounters)
    let watching = viewers.registry.all.filter { $0.camera == index && $0.isConnected && $0.seesPicture }
    return VideoCodec.allCases.flatMap { codec in
      Rendition.allCases.reversed().compactMap { rendition in
        guard let target = targets[codec][rendition] else { return nil }
        let known = counters[codec][rendition]
        return StatusReport.Rendition(
          name: rendition == .refreshed ? "refreshed" : PictureStep(rendition).rawValue, codec: codec.name,
          targetKbps: target.kbps, width: known.encoded == 0 ? nil : known.width,
          height: known.encoded == 0 ? nil : known.height, encoded: known.encoded, keyFrames: known.keyFrames,
          viewers: watching.count { $0.codec == codec && $0.route.assignment.rendition == rendition })
      }
    }
  }

  private func microphone() -> StatusReport.Microphone {
    let audio = viewers.audio
    let counters = audio.counters
    let detail =
      switch audio.microphone {
      case .off, .opening: ""
      case .running(let info): info.name
      case .missing(let error): "\(error)"
      }
    var microphone = StatusReport.Microphone(
      device: "\(audio.device)", state: audio.microphone.deviceState.rawValue, detail: detail,
      captured: counters.captured,
      encoded: counters.encoded, levelDb: counters.levelDb.tenths)
    if case .running(let info) = audio.microphone {
      (microphone.sampleRate, microphone.measuredRate) = (info.sampleRate, info.measuredRate)
      if !info.remarks.isEmpty { microphone.remarks = info.remarks }
    }
    return microphone
  }

  private func speaker() -> StatusReport.Speaker {
    let state = sound.speaker
    let detail =
      switch state {
      case .off, .opening: ""
      case .running(let info): info.name
      case .missing(let error): "\(error)"
      }
    return StatusReport.Speaker(device: "\(sound.device)", state: state.deviceState.rawValue, detail: detail)
  }

  private func viewer(_ viewer: ViewerSession) -> StatusReport.Viewer {
    let connection = viewers.hub.connection(viewer.peer)
    let statistics = connection?.statistics(now: MonotonicClock.now)
    let streams = statistics?.outboundRTP ?? []
    let picture = viewers.picture(of: viewer)
    return StatusReport.Viewer(
      name: viewer.name, state: connection?.state.rawValue ?? (viewer.outlet == nil ? "closed" : "connected"),
      permissions: viewer.permissions.names,
      seconds: (MonotonicClock.now - viewer.since).inSeconds.tenths,
      candidatePair: statistics?.selectedCandidatePair.map(\.text),
      roundTripMs: statistics?.currentRoundTripTime.map { ($0 * 1000).hundredths },
      bytesSent: statistics?.bytesSent ?? viewer.outlet?.bytesSent ?? 0,
      packetsSent: statistics?.packetsSent ?? viewer.outlet?.packetsSent ?? 0,
      packetsRetransmitted: streams.reduce(0) { $0 + $1.retransmittedPacketsSent },
      fractionLost: streams.compactMap(\.fractionLost).max(),
      availableOutgoingKbps: statistics?.availableOutgoingKbps ?? 0,
      picture: picture?.rendition, pictureReason: picture?.reason,
      problems: viewer.problems.isEmpty ? nil : viewer.problems,
      path: statistics.map { PathDocument($0.path) })
  }
}
