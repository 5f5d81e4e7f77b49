public import Control
public import Wire

/// Decides what is an alarm. Pure: it has no clock and does nothing. Instants never go backwards.
///
/// What arrives is passed to `note`; `evaluate` says what is wrong. The phone page has the same rules
/// (Sources/Web/Pages/core/alarm.js); both are tested with Tests/Fixtures/alarm-cases.json.
public struct Alarm: Sendable {
  /// What is wrong, the gravest first.
  public enum Kind: String, Sendable, CaseIterable {
    /// The child does not let this parent watch any more.
    case revoked
    /// Nothing arrives.
    case link
    case microphone
    /// The microphone is there and delivers nothing but zeros.
    case digitalSilence = "digital-silence"
    case camera
    case frozenPicture = "frozen-picture"
    /// This machine does not play what arrives.
    case ownSound = "own-sound"
    case test
    /// A planned stop, which does not ring. It becomes `link` when it lasts.
    case childStopped = "child-stopped"
  }

  public typealias Level = EventLevel

  /// What is wrong now.
  public struct Report: Hashable, Sendable {
    public var kind: Kind
    public var level: Level
    public var since: Instant
    public var isAcknowledged: Bool
    /// 0: no ringing; up to 1.
    public var loudness: Double

    public var isRinging: Bool { loudness > 0 }
  }

  /// One track of a heartbeat.
  public struct Track: Hashable, Sendable {
    public var state: DeviceState
    public var captured: UInt64
    /// What is wrong with a missing device that delivers nevertheless.
    public var fault: DeviceFault?
    /// What the child sends of the picture; nil where it does not say, and for sound.
    public var picture: PictureStep?

    public init(
      state: DeviceState, captured: UInt64, fault: DeviceFault? = nil, picture: PictureStep? = nil
    ) {
      self.picture = picture
      self.state = state
      self.captured = captured
      self.fault = fault
    }
  }

  public enum Phase: Hashable, Sendable {
    case connecting, live, reconnecting
    /// `isFinal`: trying again does not help. `isExpected`: the access was to end anyway, a guest's or a token's; nobody is woken.
    case refused(isFinal: Bool, isExpected: Bool = false)
    /// The person has left.
    case stopped
  }

  public enum Note: Hashable, Sendable {
    /// With a digest of what it shows, where there is one.
    case picture(digest: UInt64? = nil)
    case sound
    /// Tracks that this parent gets no reports of are nil.
    case heartbeat(video: Track?, audio: Track?)
    case hello
    case goodbye
    /// `isAudioOnly` nil: as before.
    case phase(Phase, isAudioOnly: Bool? = nil)
    /// Whether this machine plays the sound, or does not by a person's wish.
    case ownSound(isFaulty: Bool)
    /// This program did not run for so long, as on a machine that slept; what it could not see is no gap.
    case woke(Duration)
  }

  /// When something counts.
  public struct Limits: Hashable, Sendable {
    /// Without data for longer than this it rings: above the 3 s that a network may take, below 5 s with all delays.
    public var gap: Duration = .milliseconds(3500)
    /// Without any data from the start on.
    public var first: Duration = .seconds(15)
    /// After a planned stop: a restart and an update are done by then. Nobody is woken where somebody has acknowledged the stop.
    public var plannedStop: Duration = .seconds(90)
    /// A device may take this long to open.
    public var opening: Duration = .seconds(10)
    /// The same picture for this long is a frozen one, where pictures come with a digest.
    public var same: Duration = .seconds(10)
    /// Between two stills at most, of a child that says that it sends no more: one is due every five seconds, and later where
    /// the path leaves too little for it.
    public var stillInterval: Duration = .seconds(10)
    /// The smallest moving picture, which a path that became narrow is left with, may be late by this: the queue before it
    /// drains first, and a lost key frame is sent again behind it.
    public var lowDelay: Duration = .milliseconds(2500)
    /// The test ends by itself.
    public var test: Duration = .seconds(30)
    /// False: only a notice.
    public var ringsForPicture = true
    public var ringsForMicrophone = true
    /// Loudness of the first ringing, at least.
    public var leastLoudness = 0.0

    public init() {}
  }

  private struct Condition: Sendable {
    var since: Instant
    /// It rings from then on.
    var from: Instant
    var isAcknowledged = false
  }

  private struct TrackState: Sendable {
    var track: Track
    var since: Instant
    /// The last progress.
    var progress: Instant
    /// The last heartbeat.
    var reportedAt: Instant

    /// Heartbeats have reported no progress for as long as this. Where they are late themselves, on a link that loses
    /// much, they prove nothing.
    func hasStood(for time: Duration) -> Bool { reportedAt - progress > time }
  }

  /// When any data, a picture, a sound, and another picture came last.
  private struct Arrivals: Sendable {
    var any: Instant?
    var picture: Instant?
    var sound: Instant?
    var change: Instant?
  }

  /// This machine's own speaker. One that plays again for less than `Limits.gap` has not come back.
  private struct OwnFault: Sendable {
    var since: Instant
    var ended: Instant?
    var isLoose = false
  }

  /// Other data came for so long where one kind alone is missing; heartbeats are a second apart.
  private static let elsewhere: Duration = .seconds(2)
  /// Without any data for longer than this the link was interrupted. Afterwards each kind has as long as `elsewhere` to come
  /// back, ...
  private static let interruption: Duration = .milliseconds(1500)
  /// ... but rings at the latest this long after it came last: below 5 s with all delays.
  private static let longest: Duration = .milliseconds(4500)
  private static let louderEvery: Int64 = 10_000_000_000

  public var limits: Limits
  private var phase = Phase.connecting
  private var refusedAt: Instant?
  /// Nobody watched yet, or the access was to end anyway: a notice.
  private var isEndExpected = false
  private var isAudioOnly = false
  private var stoppedAt: Instant?
  private var began: Instant?
  private var last = Arrivals()
  /// Until when the child had said that no picture, or no other one, was due.
  private var excused: (picture: Instant?, change: Instant?)
  /// When data came again after the last interruption.
  private var resumedAt: Instant?
  private var digest: UInt64?
  private var video: TrackState?
  private var audio: TrackState?
  private var hasHadSound = false
  private var hasHadPicture = false
  private var ownFault: OwnFault?
  private var testAt: Instant?
  private var active: [Kind: Condition] = [:]

  public init(limits: Limits = Limits()) {
    self.limits = limits
  }

  // MARK: What is known

  public mutating func note(_ note: Note, now: Instant) {
    switch note {
    case .picture(let digest):
      arrived(now)
      hasHadPicture = true
      last.picture = now
      if digest == nil || digest != self.digest { last.change = now }
      self.digest = digest
    case .sound:
      arrived(now)
      hasHadSound = true
      last.sound = now
    case .heartbeat(let video, let audio):
      arrived(now)
      if self.video?.track.picture != video?.picture {
        excuse(&excused.picture, last.picture, now)
        excuse(&excused.change, last.change, now)
      }
      Self.beat(&self.video, video, now)
      Self.beat(&self.audio, audio, now)
    case .hello:
      stoppedAt = nil
      arrived(now)
    case .goodbye: stoppedAt = now
    case .phase(let phase, let isAudioOnly): enter(phase, isAudioOnly, now)
    case .ownSound(let isFaulty): noteOwnSound(isFaulty: isFaulty, now)
    case .woke(let time): shift(by: time, now)
    }
  }

  /// Everything that is wrong now is known; only what is new rings.
  public mutating func acknowledge(now: Instant) {
    _ = evaluate(now: now)
    testAt = nil
    for kind in active.keys { active[kind]?.isAcknowledged = true }
  }

  /// Rings as an alarm would.
  public mutating func test(now: Instant) {
    testAt = now
  }

  private mutating func arrived(_ now: Instant) {
    // The link is back, or there for the first time: picture and sound have their time from now on.
    if last.any.map({ now - $0 > limits.gap }) ?? true {
      (last.picture, last.sound, last.change) = (now, now, now)
      restart(&video, now)
      restart(&audio, now)
    }
    if let any = last.any, now - any > Self.interruption { resumedAt = now }
    last.any = now
  }

  private func restart(_ track: inout TrackState?, _ now: Instant) {
    track?.progress = now
    track?.reportedAt = now
  }

  private static func beat(_ known: inout TrackState?, _ track: Track?, _ now: Instant) {
    guard let track else { return known = nil }
    guard let before = known else {
      return known = TrackState(track: track, since: now, progress: now, reportedAt: now)
    }
    let stands = before.track.captured == track.captured && track.state == .running
    known = TrackState(
      track: track, since: before.track.state == track.state ? before.since : now,
      // Any other number is progress: another camera counts for itself.
      progress: stands ? before.progress : now, reportedAt: now)
  }

  private mutating func enter(_ phase: Phase, _ isAudioOnly: Bool?, _ now: Instant) {
    if case .refused(isFinal: true, let isExpected) = phase {
      isEndExpected = isExpected || last.any == nil
      refusedAt = refusedAt ?? now
    } else {
      refusedAt = nil
    }
    if phase == .stopped {
      began = nil
      last.any = nil
    } else {
      began = began ?? now
    }
    if let isAudioOnly, isAudioOnly != self.isAudioOnly {
      self.isAudioOnly = isAudioOnly
      (last.picture, last.change) = (now, now)
      restart(&video, now)
    }
    self.phase = phase
  }

  private mutating func noteOwnSound(isFaulty: Bool, _ now: Instant) {
    switch (ownFault, isFaulty) {
    case (nil, false): break
    case (nil, true): ownFault = OwnFault(since: now)
    case (let fault?, false): ownFault?.ended = fault.ended ?? now
    case (let fault?, true):
      guard let ended = fault.ended else { return }
      let isLoose = now - ended < limits.gap
      ownFault = OwnFault(since: isLoose ? fault.since : now, isLoose: isLoose)
    }
  }

  private mutating func shift(by time: Duration, _ now: Instant) {
    func later(_ instant: Instant?) -> Instant? { instant.map { min(now, $0 + time) } }
    last = Arrivals(
      any: later(last.any), picture: later(last.picture), sound: later(last.sound), change: later(last.change))
    excused = (later(excused.picture), later(excused.change))
    func shift(_ track: inout TrackState?) {
      guard let before = track else { return }
      track?.progress = min(now, before.progress + time)
      track?.reportedAt = min(now, before.reportedAt + time)
    }
    shift(&video)
    shift(&audio)
    began = later(began)
    resumedAt = later(resumedAt)
    if let fault = ownFault {
      ownFault?.since = min(now, fault.since + time)
      ownFault?.ended = later(fault.ended)
    }
  }

  // MARK: What is wrong

  /// The gravest that rings, else the gravest; nil when all is well.
  public mutating func evaluate(now: Instant) -> Report? {
    let found = find(now)
    active = active.filter { found[$0.key] != nil }
    for (kind, condition) in found where active[kind] == nil { active[kind] = condition }
    let all = Kind.allCases.compactMap { kind in active[kind].map { describe(kind, $0, now) } }
    return all.first(where: \.isRinging) ?? all.first { $0.level != .notice } ?? all.first
  }

  private func describe(_ kind: Kind, _ condition: Condition, _ now: Instant) -> Report {
    let level = level(of: kind)
    let steps = max(0, (now - condition.from).nanoseconds) / Self.louderEvery
    // Tenths: 0.3 at first, a tenth more every ten seconds.
    let rising = Double(min(10, 3 + steps)) / 10
    let isSilent = condition.isAcknowledged || level == .notice
    return Report(
      kind: kind, level: level, since: condition.since, isAcknowledged: condition.isAcknowledged,
      loudness: isSilent ? 0 : min(1, max(limits.leastLoudness, rising)))
  }

  private func level(of kind: Kind) -> Level {
    switch kind {
    case .childStopped: .notice
    case .revoked where isEndExpected: .notice
    case .microphone where !limits.ringsForMicrophone, .digitalSilence where !limits.ringsForMicrophone: .notice
    case .camera where !limits.ringsForPicture, .frozenPicture where !limits.ringsForPicture: .notice
    case .ownSound: .warning
    case .revoked, .link, .microphone, .digitalSilence, .camera, .frozenPicture, .test: .alarm
    }
  }

  private func find(_ now: Instant) -> [Kind: Condition] {
    var found: [Kind: Condition] = [:]
    if let testAt, now - testAt < limits.test { found[.test] = Condition(since: testAt, from: testAt) }
    if phase == .stopped { return found }
    if let refusedAt {
      found[.revoked] = Condition(since: refusedAt, from: refusedAt)
      return found
    }
    if let stoppedAt {
      let isKnown = active[.childStopped]?.isAcknowledged == true
      if !isKnown, let condition = Self.condition(stoppedAt, after: limits.plannedStop, now) {
        found[.link] = condition
      } else {
        found[.childStopped] = Condition(since: stoppedAt, from: stoppedAt)
      }
      return found
    }
    found[.link] =
      last.any.map { Self.condition($0, after: limits.gap, now) }
      ?? began.flatMap { Self.condition($0, after: limits.first, now) }
    guard found[.link] == nil else {
      // Nobody knows about the others now; what was acknowledged of them stays so.
      for kind in [Kind.microphone, .digitalSilence, .camera, .frozenPicture] { found[kind] = active[kind] }
      return found
    }
    if let any = last.any { findDevices(now, any: any, &found) }
    if let ownFault, ownFault.ended.map({ ownFault.isLoose && now - $0 < limits.gap }) ?? true {
      found[.ownSound] = Self.condition(ownFault.since, after: limits.gap, now)
    }
    return found
  }

  /// Nil before its time.
  private static func condition(_ since: Instant, after time: Duration, _ now: Instant) -> Condition? {
    now - since > time ? Condition(since: since, from: since + time) : nil
  }

  private func findDevices(_ now: Instant, any: Instant, _ found: inout [Kind: Condition]) {
    // Other data came meanwhile: where all ends at once, the link is lost.
    func standing(_ since: Instant?) -> Condition? {
      guard let since, any - since > Self.elsewhere else { return nil }
      var from = since + limits.gap
      if let resumedAt, resumedAt > since {
        from = max(from, min(resumedAt + Self.elsewhere, since + Self.longest))
      }
      return now > from ? Condition(since: since, from: from) : nil
    }
    let hasBeat = audio != nil || video != nil
    switch audio?.track.state {
    case .missing:
      let kind = audio?.track.fault == .digitalSilence ? Kind.digitalSilence : .microphone
      found[kind] = audio.map { Condition(since: $0.since, from: $0.since) }
    case .opening: found[.microphone] = audio.flatMap { Self.condition($0.since, after: limits.opening, now) }
    case .running: found[.microphone] = standing(earlier(stop(of: audio), last.sound))
    // Without heartbeats, as from a server of others, what came once is expected.
    case nil where !hasBeat && hasHadSound: found[.microphone] = standing(last.sound)
    case .off, nil: break
    }
    if isAudioOnly { return }
    switch video?.track.state {
    case .missing:
      let kind = video?.track.fault == .frozen ? Kind.frozenPicture : .camera
      found[kind] = video.map { Condition(since: $0.since, from: $0.since) }
    case .opening: found[.camera] = video.flatMap { Self.condition($0.since, after: limits.opening, now) }
    case .running: found[.frozenPicture] = standing(earlier(stop(of: video), due(last.picture, excused.picture, now)))
    case nil where !hasBeat && hasHadPicture: found[.frozenPicture] = standing(last.picture)
    case .off, nil: break
    }
    if found[.frozenPicture] == nil, digest != nil, video.map({ $0.track.state == .running }) ?? !hasBeat {
      let since = due(last.change, excused.change, now)
      found[.frozenPicture] = since.flatMap { Self.condition($0, after: limits.same, now) }
    }
  }

  /// Since when the device stands still, as heartbeats show.
  private func stop(of track: TrackState?) -> Instant? {
    track.flatMap { $0.hasStood(for: limits.gap) ? $0.progress : nil }
  }

  /// Since when a picture is missing, where one came at `last`; nil where none is due. The person is notified of what a weak
  /// connection leaves, and it does not ring as well.
  private func due(_ last: Instant?, _ excused: Instant?, _ now: Instant) -> Instant? {
    guard let last, let delay else { return nil }
    return max(min(now, last + delay), excused ?? last)
  }

  /// What the child says of the picture is about to change.
  private func excuse(_ excused: inout Instant?, _ last: Instant?, _ now: Instant) {
    guard let last else { return }
    excused = max(delay.map { min(now, last + $0) } ?? now, excused ?? last)
  }

  /// How late a picture may be, as the child reports; nil where none comes.
  private var delay: Duration? {
    switch video?.track.picture {
    case .soundAlone: nil
    case .stills: limits.stillInterval
    case .low: limits.lowDelay
    case .middle, .high, nil: .zero
    }
  }

  private func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    [one, other].compactMap(\.self).min()
  }
}
