public import Control
public import Monitoring
public import Wire

/// Everything that somebody who watches is shown besides picture and sound; for window and terminal alike. Pure.
public struct WatchView: Sendable {
  public enum Talking: Sendable {
    case silent
    /// The child has not yet given the floor.
    case asking
    case speaking
  }

  /// A message across the picture.
  public struct Banner: Hashable, Sendable {
    public var title: String
    public var lines: [String]
    public var isAlarm: Bool
  }

  /// What is watched: a child's name, or an address.
  public var name: String
  /// One of several rooms that are watched at once: it keeps the name by which this machine tells them apart.
  public let isOneOfSeveral: Bool
  public var statistics: WatchStatistics?
  public var linkState = WatchStatistics.State.connecting
  public var alarm: Alarm.Report?
  public var isMuted = false
  /// Sound waits, so that short gaps are not heard.
  public var isSteady = false
  public var talking = Talking.silent
  /// Nil: all sound is played.
  public var vox: Double?
  /// The end, when watching was given up.
  public var end: String?
  /// The state of the child as it reported; parts that it never reported are nil.
  public private(set) var child = StateDocument()
  /// What the child sends of the picture, and why not more.
  public private(set) var picture: PictureDocument?
  /// The alarm drill that runs, also while it keeps the link from us.
  public private(set) var drill: DrillDocument?
  private var drillAskedAt: Instant?
  /// Why it is reconnecting.
  private var lossReason: String?
  private var remark: (text: String, at: Instant)?

  /// What was done or refused is shown for so long.
  private static let remarkTime: Duration = .seconds(6)

  public init(name: String, isOneOfSeveral: Bool = false) {
    self.name = name
    self.isOneOfSeveral = isOneOfSeveral
  }

  /// Says what was just done or refused.
  public mutating func say(_ text: String, now: Instant) {
    remark = (text, now)
  }

  public mutating func note(_ event: WatchEvent) {
    switch event {
    case .state(let state):
      linkState = state
      if state == .connected { lossReason = nil }
      // What it was before the link was lost is not shown as what it is.
      if state == .reconnecting {
        child = StateDocument()
        picture = nil
      }
    case .lost(let reason): lossReason = reason
    case .alarm(let report): alarm = report
    case .push(.hello(let hello)):
      if !hello.name.isEmpty, !isOneOfSeveral { name = hello.name }
      child = hello.state
      drill = hello.state.drill
    case .push(.state(let state)): merge(state)
    case .push(.heartbeat(let beat)): picture = beat.video?.picture
    case .push(.event), .push(.level), .push(.goodbye): break
    }
  }

  private mutating func merge(_ new: StateDocument) {
    child.lights = new.lights ?? child.lights
    child.lullaby = new.lullaby ?? child.lullaby
    child.cameras = new.cameras ?? child.cameras
    child.talk = new.talk ?? child.talk
    child.viewers = new.viewers ?? child.viewers
    child.microphone = new.microphone ?? child.microphone
    child.speaker = new.speaker ?? child.speaker
    child.hearing = new.hearing ?? child.hearing
    drill = new.drill ?? drill
  }

  // MARK: What is shown

  /// Sound level, dB below full scale; nil while there is no sound.
  public var levelDb: Double? {
    linkState == .connected ? statistics?.audioLevelDb : nil
  }

  /// What was just said, if that is not too long ago.
  public func said(now: Instant) -> String? {
    remark.flatMap { now - $0.at < Self.remarkTime ? $0.text : nil }
  }

  /// The state in short pieces, the most important first.
  public var parts: [String] {
    var parts: [String] = []
    switch talking {
    case .silent: break
    case .asking: parts.append("asking for the floor")
    case .speaking: parts.append("YOU ARE HEARD")
    }
    parts.append(linkState == .connected ? name : "\(name): \(linkText)")
    if isDrill { parts.append("FIRE DRILL") }
    if child.hearing?.state == .running { parts.append("sound check running") }
    if let alarm { parts.append(alarm.kind.title + (alarm.isAcknowledged ? " (seen)" : "")) }
    if let level = levelDb { parts.append("\(Int(saturating: level.rounded())) dB") }
    if let delay = delayText { parts.append(delay) }
    if let pictureText { parts.append(pictureText) }
    if isMuted { parts.append("sound is off") }
    if isSteady { parts.append("smoother sound") }
    if vox != nil { parts.append(statistics?.isVoxOpen == true ? "loud" : "quiet") }
    parts += childParts
    if let statistics, linkState == .connected { parts += Self.figures(statistics) }
    return parts
  }

  private var linkText: String {
    switch linkState {
    case .connecting: "connecting"
    case .connected: "connected"
    case .disconnected: "the link is weak"
    case .reconnecting: "reconnecting"
    case .ended: "ended"
    }
  }

  private var delayText: String? {
    guard linkState == .connected else { return nil }
    if let delay = statistics?.latencyMs?.p50 { return "\(delay) ms" }
    return statistics?.latencyEstimateMs.map { "~\(Int(saturating: $0.rounded())) ms" }
  }

  /// Which picture a weak connection leaves; nil while it is the whole one.
  public var pictureText: String? { linkState == .connected ? picture?.shortfall : nil }

  private var childParts: [String] {
    var parts: [String] = []
    for light in child.lights ?? [] where light.state != .off { parts.append(light.text) }
    if let lullaby = child.lullaby, lullaby.state != .stopped {
      let left = lullaby.remainingSeconds.map { " \(ElapsedTime.text($0))" } ?? ""
      parts.append(
        "\(lullaby.track ?? "lullaby")\(lullaby.state == .playing ? "" : " \(lullaby.state.rawValue)")\(left)")
    }
    if talking == .silent, let holder = child.talk?.holder { parts.append("\(holder) talks") }
    if let others = child.viewers?.count, others > 1 { parts.append("\(others) watch") }
    return parts
  }

  private static func figures(_ statistics: WatchStatistics) -> [String] {
    var parts: [String] = []
    if let width = statistics.width, let height = statistics.height {
      parts.append("\(width)x\(height) \(Int(saturating: statistics.framesPerSecond.rounded()))/s")
    }
    parts.append("\(Int(saturating: (statistics.videoKbps + statistics.audioKbps).rounded())) kbit/s")
    if statistics.packetsLost > 0 { parts.append("lost \(statistics.packetsLost)") }
    if statistics.freezeCount > 0 { parts.append("froze \(statistics.freezeCount)x") }
    return parts
  }

  /// What is wrong, in a few words, where several rooms have little space each; nil while all is well.
  public var problem: String? {
    if end != nil { return "nobody listens here" }
    if let alarm { return alarm.kind.title + (alarm.isAcknowledged ? " (seen)" : "") }
    return linkState == .connected ? nil : linkText
  }

  /// What stands across the picture; nil while all is well.
  public var banner: Banner? {
    if let end, alarm == nil { return Banner(title: "The end", lines: [end], isAlarm: true) }
    if let alarm {
      var lines = alarm.isAcknowledged ? [] : [alarm.kind.advice]
      if isDrill { lines.append("A fire drill runs: this is it.") }
      return Banner(title: alarm.kind.title, lines: lines, isAlarm: alarm.level != .notice)
    }
    switch linkState {
    case .disconnected: return Banner(title: "The link is weak", lines: ["Nothing gets through now."], isAlarm: false)
    case .reconnecting:
      return Banner(title: "Reconnecting", lines: [lossReason].compactMap(\.self), isAlarm: false)
    case .connected:
      guard let picture, picture.rendition == PictureStep.soundAlone.rawValue else { return nil }
      return Banner(title: "Sound alone", lines: ["The connection is too weak for a picture."], isAlarm: false)
    case .connecting, .ended: return nil
    }
  }

  /// Shown before the first picture.
  public var waiting: [String] {
    switch linkState {
    case .connecting: ["Connecting to \(name) ..."]
    case .connected: ["Waiting for the picture ..."]
    case .disconnected, .reconnecting, .ended: []
    }
  }

  /// What the window's buttons do; none for what the camera does not have.
  public var buttons: [(key: WatchKey, isOn: Bool)] {
    guard linkState == .connected else { return [(.help, false)] }
    var buttons: [(WatchKey, Bool)] = []
    if let lights = child.lights, !lights.isEmpty { buttons.append((.light, lights.contains { $0.state != .off })) }
    if let lullaby = child.lullaby { buttons.append((.lullaby, lullaby.state != .stopped)) }
    buttons += [(.talk, talking != .silent), (.screenshot, false), (.mute, isMuted), (.help, false)]
    return buttons
  }

  /// Nobody else hears the room as far as the camera has said.
  public var isOnlyListener: Bool { linkState != .ended && (child.viewers?.count ?? 1) <= 1 }

  public var isDrill: Bool { drill?.state == .running }

  public var isRinging: Bool { alarm?.isRinging == true }

  // MARK: What the keys order

  /// The light that the key switches: the first one.
  public var lightOrder: any ControlCommand { LightSet(state: .toggle) }

  /// An alarm drill rings everywhere, so the key counts only when it is pressed again at once. Nil: ask for that.
  public mutating func drillOrder(now: Instant) -> (any ControlCommand)? {
    if isDrill { return DrillStop() }
    defer { drillAskedAt = now }
    guard let asked = drillAskedAt, now - asked < Self.remarkTime else { return nil }
    return DrillStart()
  }

  public var lullabyOrder: any ControlCommand {
    switch child.lullaby?.state {
    case .playing, .waiting: LullabyStop()
    case .paused: LullabyResume()
    case .stopped, nil: LullabyPlay()
    }
  }
}
