internal import Frames
internal import Sound
internal import Wire

/// How a lullaby is to be played.
struct LullabyRequest: Sendable {
  /// Without a word of the parent: half an hour, then half a minute of fading. A child that is used to noise all night
  /// hears it all night; Pediatrics 2014;133(4):677.
  static let defaultTimer: Duration = .seconds(1800)
  static let defaultFade: Duration = .seconds(30)
  static let longestTimer: Duration = .seconds(12 * 3600)
  static let defaultVolume = 40

  var track: LullabyTrack
  /// Percent; nil leaves it as it was.
  var volume: Int?
  /// What has an end begins again after it.
  var isLooping = false
  /// How long it plays, 1 second to 12 hours, by the clock: pauses and a missing speaker count.
  var timer = defaultTimer
  /// How long before the timer's end it begins to fade; half of the timer at most.
  var fade = defaultFade
}

/// What parents are told of the lullaby.
struct LullabyState: Hashable, Sendable {
  enum Phase: String, Sendable {
    case stopped, playing, paused
  }

  var phase = Phase.stopped
  var track: LullabyTrack?
  /// Percent, as it is after the limit.
  var volume: Int
  /// In the track.
  var positionSeconds = 0.0
  /// Until it ends by its timer or by itself; nil when stopped.
  var remainingSeconds: Double?
}

/// A lullaby with the sound that waits for the speaker, and how loud it is at the moment.
struct LullabyVoice: Sendable {
  enum Intent: Sendable {
    case play, pause, stop
  }

  /// Tells it from every other that was ever played.
  let number: Int
  let request: LullabyRequest
  let deadline: Instant
  var stock: SoundStock
  var intent = Intent.play
  /// Samples the speaker has taken.
  private(set) var played = 0
  /// Samples from its beginning to its end, known once it has come to it.
  var loopLength: Int?
  /// Nothing comes to the stock any more.
  var isComplete = false
  /// 0...1: fades in, and out before it pauses or ends.
  private var presence: Float = 0
  private var gain: Float = 0

  private static let rate = Double(AudioFormat.sampleRate)
  /// One second: what a busy machine may be late with the next sound.
  static let stockSize = AudioFormat.sampleRate
  private static let fadeIn = Float(1.0)
  private static let fadeOut = Float(0.3)

  init(number: Int, request: LullabyRequest, now: Instant) {
    self.number = number
    self.request = request
    deadline = now + request.timer
    stock = SoundStock(capacity: Self.stockSize)
  }

  /// Nothing of it is or will be heard.
  var hasEnded: Bool { (intent == .stop && presence == 0) || (isComplete && stock.count == 0) }

  /// After a time without a speaker: what was to fade has, and what plays on fades in.
  mutating func speakerReturned() {
    presence = 0
    gain = 0
  }

  /// Fills `samples` with its next, at their gain. `time` is when they are heard.
  mutating func read(into samples: inout [Float], volume: Float, at time: Instant) {
    fade(by: samples.count)
    guard presence > 0 || gain > 0 else {
      samples.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
      return
    }
    let wanted = volume * presence * presence * timerGain(at: time)
    let count = stock.take(into: &samples)
    played += count
    if count == samples.count {
      Gain.ramp(&samples, from: gain, to: wanted, count: count)
      gain = wanted
    } else {
      // The end, or a machine too busy to read on in time.
      Gain.ramp(&samples, from: gain, to: 0, count: count)
      speakerReturned()
    }
  }

  func positionSeconds() -> Double {
    let position = loopLength.map { $0 > 0 ? played % $0 : 0 } ?? played
    return Double(position) / Self.rate
  }

  func remainingSeconds(now: Instant) -> Double {
    let timer = max(0, (deadline - now).inSeconds)
    guard !request.isLooping, let seconds = request.track.seconds else { return timer }
    return min(timer, max(0, seconds - positionSeconds()))
  }

  private mutating func fade(by samples: Int) {
    let step = Float(samples) / Float(Self.rate)
    presence = intent == .play ? min(1, presence + step / Self.fadeIn) : max(0, presence - step / Self.fadeOut)
  }

  private func timerGain(at time: Instant) -> Float {
    let left = deadline - time
    guard left > .zero else { return 0 }
    guard left < request.fade else { return 1 }
    let share = Float(left.inSeconds / request.fade.inSeconds)
    return share * share
  }
}
