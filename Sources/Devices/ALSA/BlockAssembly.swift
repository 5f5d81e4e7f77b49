internal import DeviceNames
internal import Frames
internal import Sound
internal import Wire

/// Collects the card's samples, read in portions of any size, into blocks of 20 ms: one channel, at 48 kHz of the real
/// clock, with the gain.
struct BlockAssembly {
  private var frames: [Float]
  private var pending: [Float] = []
  private var clock = CaptureClock()
  private var isAfterGap = false
  private var mixer: ChannelMixer
  private let amplifier: MicrophoneAmplifier
  private let hasMoreThan16Bits: Bool
  private var meter = RateMeter(nominal: AudioFormat.sampleRate)
  /// Since the meter was last updated.
  private var unmeasured = 0
  private var resampler: Resampler?
  /// What `resampler` converts from, in Hz.
  private var resampledRate = AudioFormat.sampleRate

  /// A card this far from its rate, and by more than the measurement may be wrong, has another one.
  private static let tolerance = 0.005
  /// Less is drift, which players even out.
  private static let drift = 0.0005
  /// Hz: more or less than any microphone has.
  private static let possible = 4000.0...200_000

  init(_ pcm: borrowing PCMCapture, gain: MicrophoneGain) {
    frames = [Float](repeating: 0, count: AudioFormat.samplesPerBlock * pcm.channels)
    mixer = ChannelMixer(channels: pcm.channels)
    amplifier = MicrophoneAmplifier(gain: gain)
    hasMoreThan16Bits = pcm.hasMoreThan16Bits
  }

  /// The rate that the card really has in Hz, once it is known; 48,000 if it is near enough.
  private(set) var measuredRate: Int?
  /// How its channels are wired.
  var wiring: ChannelMixer.Wiring { mixer.wiring }

  mutating func fill(from pcm: borrowing PCMCapture) throws(DeviceError) -> PCMCapture.Outcome {
    let outcome = try pcm.read(into: &frames)
    if case .samples(let read) = outcome {
      unmeasured += read
      let sound = mixer.mix(Array(frames.prefix(read * pcm.channels)))
      pending += resampler.map { Self.resample(sound, $0, from: resampledRate) } ?? sound
    }
    return outcome
  }

  /// After each read; for `late` see `RateMeter.add`. Throws `wrongRate` if it delivers too few or too many samples, and not evenly.
  mutating func measure(late: Duration, now: Instant, device: String) throws(DeviceError) {
    meter.add(frames: unmeasured, late: late, now: now)
    unmeasured = 0
    switch meter.verdict {
    case .measuring: break
    case .steady(let rate, let error) where Self.possible ~= rate: adopt(rate, error: error)
    case .steady(let rate, _), .uneven(let rate):
      throw DeviceError(
        device: device, reason: .wrongRate(delivered: Int(saturating: rate), expected: AudioFormat.sampleRate),
        advice: "Try another USB port or cable; it is opened again.")
    }
  }

  private mutating func adopt(_ rate: Double, error: Double) {
    let nominal = Double(AudioFormat.sampleRate)
    let isRegular = abs(rate - nominal) <= (resampler == nil ? Self.tolerance + error : Self.drift) * nominal
    if isRegular {
      // It never was wrong, or has come right.
      (measuredRate, resampler, resampledRate) = (AudioFormat.sampleRate, nil, AudioFormat.sampleRate)
      return
    }
    guard abs(rate - Double(resampledRate)) > max(error, Self.drift) * rate else { return }
    resampledRate = Int(saturating: rate.rounded())
    if measuredRate.map({ abs(rate - Double($0)) > Self.tolerance * rate }) ?? true { measuredRate = resampledRate }
    if let resampler { resampler.setRate(resampledRate) } else { resampler = Resampler(from: resampledRate) }
  }

  private static func resample(_ sound: [Float], _ resampler: Resampler, from rate: Int) -> [Float] {
    let most = sound.count * AudioFormat.sampleRate / max(1, rate) + 64
    return [Float](unsafeUninitializedCapacity: most) { output, count in
      count = sound.withUnsafeBufferPointer { resampler.process($0, into: output).given }
    }
  }

  /// Discards a half-filled block before a gap; its samples count as lost with the gap.
  mutating func interrupt() {
    pending.removeAll(keepingCapacity: true)
    isAfterGap = true
    unmeasured = 0
    meter.restart()
  }

  /// The block if it is full. `timeOfNextSample` is the capture time of the sample after those that were read.
  mutating func takeBlock(timeOfNextSample: @autoclosure () -> Instant) -> AudioBlock? {
    guard pending.count >= AudioFormat.samplesPerBlock else { return nil }
    let age = Duration.nanoseconds(Int64(pending.count) * 1_000_000_000 / Int64(AudioFormat.sampleRate))
    let placed = clock.place(measured: timeOfNextSample() - age, afterGap: isAfterGap)
    isAfterGap = false
    let samples = amplifier.amplify(pending.prefix(AudioFormat.samplesPerBlock), isDithered: hasMoreThan16Bits)
    pending.removeFirst(AudioFormat.samplesPerBlock)
    return AudioBlock(samples: samples, captureTime: placed.captureTime, samplePosition: placed.samplePosition)
  }
}
