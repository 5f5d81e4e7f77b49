import Frames
import Glibc
import Sound
import Testing
import Wire

/// A loudspeaker and a microphone in a room: a direct path of 15 ms, reflections, and a ring that fades by 60 dB within a
/// third of a second.
private final class Room {
  private static let line = 4096
  private static let combs = [1429, 2203]
  /// Unchecked memory: these tests go through many samples.
  private let memory = UnsafeMutablePointer<Float>.allocate(capacity: 3 * line)
  private let losses = combs.map { Float(pow(10, -3 * Double($0) / 16_000)) }
  private var time = 0

  init() { memory.initialize(repeating: 0, count: 3 * Self.line) }
  deinit { memory.deallocate() }

  func echo(of sample: Float) -> Float {
    let mask = Self.line - 1
    memory[time & mask] = sample
    let input = memory[(time - 1500) & mask]
    var result =
      0.4 * memory[(time - 720) & mask] - 0.15 * memory[(time - 931) & mask] + 0.1 * memory[(time - 1277) & mask]
    for (index, length) in Self.combs.enumerated() {
      let ring = memory + (index + 1) * Self.line
      let out = ring[(time - length) & mask]
      ring[time & mask] = input + out * losses[index]
      result += 0.05 * out
    }
    time += 1
    return result
  }
}

private enum Signal: CaseIterable {
  case noise, speech

  /// Full scale at 1.
  func make(seconds: Int, seed: UInt64 = 1) -> [Float] {
    let count = seconds * 48_000
    var samples = [Float](repeating: 0, count: count)
    var noise = NoiseGenerator(.white, seed: seed)
    _ = noise.read(into: &samples)
    guard self == .speech else { return samples.map { $0 * 3 } }
    // Vowels that glide, hissing between them, and pauses: about two syllables a second.
    let pitch = seed == 1 ? 140.0 : 290.0
    let rate = seed == 1 ? 2.1 : 2.9
    var phase = 0.0
    for index in 0..<count {
      let time = Double(index) / 48_000
      phase += pitch * (1 + 0.12 * sin(4.4 * time)) / 48_000
      phase -= phase.rounded(.down)
      let angle = 2 * Double.pi * phase
      let vowel = 0.5 + 0.5 * sin(7 * time)
      let voiced =
        sin(angle) + 0.8 * vowel * sin(3 * angle) + 0.6 * (1 - vowel) * sin(8 * angle) + 0.3 * sin(15 * angle)
      let syllable = sin(2 * .pi * rate * time + Double(seed))
      let envelope = max(0, min(1, (syllable + 0.4) * 3))
      let isHissing = sin(.pi * rate * time) > 0.8
      samples[index] = Float(envelope) * (isHissing ? samples[index] * 2 : Float(0.08 * voiced))
    }
    return samples
  }
}

@Suite struct EchoControlTests {
  /// The microphone's sound, 20 ms at a time.
  private struct Result {
    var heard: [Int16] = []
    var cleaned: [Int16] = []

    /// RMS in dBFS of a range of seconds.
    static func level(_ samples: [Int16], _ seconds: Range<Double>) -> Double {
      let piece = samples[Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)]
      let sum = piece.reduce(0) { $0 + Double($1) * Double($1) }
      return Decibels.from(amplitude: (sum / Double(piece.count)).squareRoot() / 32768)
    }

    func reduction(_ seconds: Range<Double>) -> Double {
      Self.level(heard, seconds) - Self.level(cleaned, seconds)
    }
  }

  /// Plays and records for the length of `far`, after so many seconds of silence. The speaker's clock runs faster by so
  /// many parts per million, and the device says of each block when it is heard, up to `jitter` wrong.
  private func run(
    far: [Float], near: [Float]? = nil, control: EchoControl = EchoControl(), silence: Int = 0, drift: Double = 0,
    jitter: Duration = .zero
  ) -> Result {
    let room = Room()
    var noise = NoiseGenerator(.white, seed: 77)
    var hiss = [Float](repeating: 0, count: 960)
    _ = noise.read(into: &hiss)
    var result = Result()
    let quiet = [Int16](repeating: 0, count: 960)
    let speed = 1 + drift / 1e6
    let silent = silence * 48_000
    let total = silent + far.count
    var given = 0
    for block in 0..<total / 960 - 2 {
      let start = Instant.zero + .milliseconds(20 * block)
      // The speaker has taken everything that is heard within 30 ms of now, the end of the block.
      while given + 480 <= total {
        let heardAt = Instant.zero + .nanoseconds(Int64(Double(given) / 48_000 / speed * 1e9))
        guard heardAt < start + .milliseconds(50) else { break }
        let error = Duration.nanoseconds(jitter.nanoseconds * Int64(given / 480 * 7 % 11 - 5) / 5)
        let sound = given < silent ? Array(quiet[..<480]) : integers(far[given - silent..<given - silent + 480])
        control.play(sound, heardAt: heardAt + error)
        given += 480
      }
      var samples = quiet
      let isSilent = (block + 2) * 960 <= silent
      if !isSilent {
        for index in 0..<960 {
          // What the air carries at this moment of the microphone's clock.
          let place = Double(block * 960 + index) * speed - Double(silent)
          let whole = Int(place.rounded(.down))
          let part = Float(place - Double(whole))
          let played = whole >= 0 && whole + 1 < far.count ? far[whole] * (1 - part) + far[whole + 1] * part : 0
          let voice = near?[block * 960 + index - silent] ?? 0
          samples[index] = Int16(max(-1, min(1, room.echo(of: played) + voice + 0.005 * hiss[index])) * 32767)
        }
      }
      var recorded = AudioBlock(samples: samples, captureTime: start, samplePosition: UInt64(block * 960))
      control.clean(&recorded)
      guard block * 960 >= silent else { continue }
      result.heard += samples
      result.cleaned += recorded.samples
    }
    return result
  }

  private func integers(_ samples: ArraySlice<Float>) -> [Int16] { samples.map { Int16($0 * 32767) } }

  @Test(arguments: Signal.allCases) fileprivate func theEchoIsGoneAfterTwoSeconds(signal: Signal) {
    let result = run(far: signal.make(seconds: 4))
    #expect(result.reduction(2..<3.9) > 20, "\(signal): \(result.reduction(2..<3.9)) dB")
  }

  @Test func aVoiceInTheRoomIsKeptWhileTheSpeakerTalks() {
    let near = Signal.speech.make(seconds: 6, seed: 2).enumerated().map { $0.offset < 3 * 48_000 ? 0 : $0.element }
    let result = run(far: Signal.speech.make(seconds: 6), near: near)
    let loss = Result.level(near.map { Int16($0 * 32767) }, 3.2..<5.8) - Result.level(result.cleaned, 3.22..<5.82)
    #expect(abs(loss) < 3, "\(loss) dB")
  }

  @Test func clocksThatDifferAreFollowed() {
    let result = run(far: Signal.speech.make(seconds: 4), silence: 60, drift: 60, jitter: .milliseconds(4))
    #expect(result.reduction(2..<3.9) > 20, "\(result.reduction(2..<3.9)) dB")
  }

  @Test func withoutSoundNothingIsTouched() {
    let control = EchoControl()
    let near = Signal.speech.make(seconds: 1, seed: 2)
    let result = run(far: [Float](repeating: 0, count: 48_000), near: near, control: control)
    #expect(result.heard == result.cleaned && !control.isWorking)
    let unplayed = EchoControl()
    var block = AudioBlock(samples: [Int16](repeating: 5, count: 960), captureTime: .zero, samplePosition: 0)
    unplayed.clean(&block)
    #expect(block.samples.allSatisfy { $0 == 5 })
  }

  @Test func itBeginsAndEndsWithTheSoundAndWithoutAClick() {
    let control = EchoControl()
    let far = Signal.noise.make(seconds: 4).enumerated().map { (48_000..<96_000).contains($0.offset) ? $0.element : 0 }
    // A slow tone in the room shows every jump.
    let near = far.indices.map { Float(0.3 * sin(2 * Double.pi * 100 * Double($0) / 48_000)) }
    let silent = run(far: far.map { _ in 0 }, near: near)
    let result = run(far: far.map { $0 * 0.0005 }, near: near, control: control)
    #expect(result.heard[..<40_000] == result.cleaned[..<40_000] && !control.isWorking)
    #expect(result.cleaned.suffix(24_000) == silent.heard.suffix(24_000))
    let steps = zip(result.cleaned, result.cleaned.dropFirst()).map { abs(Int($0) - Int($1)) }
    #expect((steps.max() ?? 0) < 400, "\(steps.max() ?? 0)")
  }

  @Test func aSpeakerThatIsUnpluggedAndPluggedIsFollowed() {
    let control = EchoControl()
    let far = Signal.noise.make(seconds: 3)
    _ = run(far: far, control: control)
    // Time runs back to zero in the second run: as if the devices had been opened anew.
    let again = run(far: far, control: control)
    #expect(again.reduction(1..<2.9) > 20, "\(again.reduction(1..<2.9)) dB")
  }
}
