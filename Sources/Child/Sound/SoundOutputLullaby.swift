internal import Frames
internal import Sound
internal import Wire

/// How to play a lullaby.
struct LullabyRequest: Sendable {
  /// Defaults: half an hour, the last half minute fading. A child used to noise all night is exposed to it all night;
  /// Pediatrics 2014;133(4):677.
  static let defaultTimer: Duration = .seconds(1800)
  /// Slow enough that the silence wakes nobody.
  static let defaultFade: Duration = .seconds(30)
  static let longestTimer: Duration = .seconds(12 * 3600)
  /// Percent. Audible beside the cot, not across the house.
  static let defaultVolume = 40

  var track: LullabyTrack
  /// Percent; nil keeps the current volume.
  var volume: Int?
  /// A track that ends starts over.
  var isLooping = false
  /// How long it plays, 1 second to 12 hours of clock time, including pauses and time without a speaker.
  var timer = defaultTimer
  /// How long before the timer's end the fade begins; at most half of the timer.
  var fade = defaultFade
  /// Where another lullaby plays, its timer, fade and looping go on.
  var continuesTimer = false
}

/// The lullaby's state, as reported to parents.
struct LullabyState: Hashable, Sendable {
  enum Phase: String, Sendable {
    case stopped, playing, paused
  }

  var phase = Phase.stopped
  var track: LullabyTrack?
  /// Percent, after limiting.
  var volume: Int
  /// Percent.
  var maximumVolume: Int
  /// Within the track.
  var positionSeconds = 0.0
  /// Until its timer or the track ends; nil when stopped.
  var remainingSeconds: Double?
  /// What its timer was set to; nil when stopped.
  var timer: Duration?
  var isLooping = false
}

/// A lullaby with the sound buffered for the speaker, and its current gain.
struct LullabyVoice: Sendable {
  enum Intent: Sendable {
    case play, pause, stop
  }

  /// Unique among all lullabies played.
  let number: Int
  let request: LullabyRequest
  let deadline: Instant
  var stock: SoundStock
  var intent = Intent.play
  /// Samples taken by the speaker.
  private(set) var played = 0
  /// Length of the track in samples; known once its end has been reached.
  var loopLength: Int?
  /// Nothing more will be added to the stock.
  var isComplete = false
  /// 0...1: fades in at the start, and out before pausing or ending.
  private var presence: Float = 0
  private var gain: Float = 0

  private static let rate = Double(AudioFormat.sampleRate)
  /// One second: how late a busy machine may be with more sound.
  static let stockSize = AudioFormat.sampleRate
  private static let fadeIn = Float(1.0)
  private static let fadeOut = Float(0.3)

  init(number: Int, request: LullabyRequest, deadline: Instant) {
    self.number = number
    self.request = request
    self.deadline = deadline
    stock = SoundStock(capacity: Self.stockSize)
  }

  /// Nothing of it is audible any more, or will be.
  var hasEnded: Bool { (intent == .stop && presence == 0) || (isComplete && stock.count == 0) }

  /// After a gap without a speaker: a pending fade-out is over, and continuing sound fades in.
  mutating func speakerReturned() {
    presence = 0
    gain = 0
  }

  /// Fills `samples` with its next samples, gain applied. `time` is when they are heard.
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
      // The end, or a machine too busy to refill in time.
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
