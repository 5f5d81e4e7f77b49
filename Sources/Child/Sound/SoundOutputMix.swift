internal import Devices
internal import Sound
internal import Wire

/// Everything the child's speaker plays: at most one lullaby and its successor, mixed with at most one talker. The
/// speaker's thread takes blocks from it, other threads give it commands.
struct SoundOutputMix: Sendable {
  enum End: Hashable, Sendable {
    /// The track has ended.
    case track
    case timer
    case command
  }

  private(set) var voice: LullabyVoice?
  /// Starts when the previous one has faded out.
  private var next: LullabyVoice?
  /// Percent; never above `maximumVolume`.
  private(set) var volume: Int
  let maximumVolume: Int
  private var mixer = Mixer()
  private var music = [Float](repeating: 0, count: PlaybackFormat.samplesPerBlock)
  private var speech = [Int16](repeating: 0, count: PlaybackFormat.samplesPerBlock)
  private var lastBlock: Instant?
  private var numbers = 0
  /// Ends not yet reported.
  private var ended: [(track: LullabyTrack, reason: End)] = []

  /// After this long without a block, the speaker counts as missing.
  private static let gap: Duration = .milliseconds(250)

  init(maximumVolume: Int) {
    self.maximumVolume = min(max(0, maximumVolume), 100)
    volume = min(LullabyRequest.defaultVolume, self.maximumVolume)
  }

  // MARK: Orders

  /// Returns its number, which identifies the sound read for it.
  mutating func play(_ request: LullabyRequest, now: Instant) -> Int {
    if let volume = request.volume { setVolume(volume) }
    numbers += 1
    var (request, deadline) = (request, now + request.timer)
    if request.continuesTimer, let current, now < current.deadline {
      (request.timer, request.fade, deadline) = (current.request.timer, current.request.fade, current.deadline)
      request.isLooping = current.request.isLooping
    }
    let new = LullabyVoice(number: numbers, request: request, deadline: deadline)
    if let current { ended.append((current.request.track, .command)) }
    if voice == nil || isSpeakerMissing(now) {
      voice = new
      next = nil
    } else {
      voice?.intent = .stop
      next = new
    }
    return numbers
  }

  mutating func pause() { setIntent(.pause) }
  mutating func resume() { setIntent(.play) }
  mutating func stop(now: Instant) { finish(.command, now) }

  mutating func setVolume(_ percent: Int) {
    volume = min(max(0, percent), maximumVolume)
  }

  // MARK: The speaker's side

  /// The next 10 ms. `time` is when they are heard.
  mutating func read(into samples: inout [Int16], talk: PlaybackRing, at time: Instant) {
    if isSpeakerMissing(time) { voice?.speakerReturned() }
    lastBlock = time
    expire(time)
    // If the caller changed the length, the rest is silence.
    talk.read(into: &speech)
    let gain = Volume.amplitude(volume, maximum: maximumVolume)
    if voice == nil {
      for index in music.indices { music[index] = 0 }
    } else {
      voice?.read(into: &music, volume: gain, at: time)
      if voice?.hasEnded == true { advance() }
    }
    mixer.mix(
      music: &music, voice: speech, voiceGain: Volume.amplitude(maximumVolume), into: &samples)
  }

  // MARK: The reader's side

  /// How many samples the lullaby with this number takes; nil if it has ended.
  func room(for number: Int) -> Int? {
    [voice, next].compactMap { $0 }.first { $0.number == number && $0.intent != .stop }?.stock.room
  }

  mutating func append(_ samples: ArraySlice<Float>, to number: Int) {
    if voice?.number == number { voice?.stock.append(samples) }
    if next?.number == number { next?.stock.append(samples) }
  }

  mutating func setLoopLength(_ length: Int, of number: Int) {
    if voice?.number == number { voice?.loopLength = length }
    if next?.number == number { next?.loopLength = length }
  }

  mutating func complete(_ number: Int) {
    if voice?.number == number { voice?.isComplete = true }
    if next?.number == number { next?.isComplete = true }
  }

  /// Ends what has timed out, speaker or not. Returns what has ended since the last call.
  mutating func handleTimeout(now: Instant) -> [(track: LullabyTrack, reason: End)] {
    expire(now)
    defer { ended = [] }
    return ended
  }

  /// When the timer ends.
  var deadline: Instant? { current?.deadline }

  func state(now: Instant) -> LullabyState {
    guard let current, now < current.deadline else { return LullabyState(volume: volume, maximumVolume: maximumVolume) }
    return LullabyState(
      phase: current.intent == .pause ? .paused : .playing, track: current.request.track, volume: volume,
      maximumVolume: maximumVolume,
      positionSeconds: current.positionSeconds(), remainingSeconds: current.remainingSeconds(now: now),
      timer: current.request.timer, isLooping: current.request.isLooping)
  }

  // MARK: Parts

  /// The one that parents see; to them a lullaby that is fading out has ended.
  private var current: LullabyVoice? { next ?? voice.flatMap { $0.intent == .stop ? nil : $0 } }

  private func isSpeakerMissing(_ now: Instant) -> Bool {
    lastBlock.map { now - $0 > Self.gap } ?? true
  }

  private mutating func setIntent(_ intent: LullabyVoice.Intent) {
    if next != nil {
      next?.intent = intent
    } else if voice?.intent != .stop {
      voice?.intent = intent
    }
  }

  private mutating func expire(_ now: Instant) {
    if let deadline, deadline <= now { finish(.timer, now) }
  }

  private mutating func finish(_ reason: End, _ now: Instant) {
    guard let current else { return }
    ended.append((current.request.track, reason))
    next = nil
    voice?.intent = .stop
    // Without a speaker nobody hears it fade.
    if isSpeakerMissing(now) { voice = nil }
  }

  /// The current one has faded out or ended.
  private mutating func advance() {
    if next == nil, let current { ended.append((current.request.track, .track)) }
    voice = next
    next = nil
  }
}
