import DeviceNames
import Frames
import Testing

@testable import Sound

/// What becomes of a microphone's samples before they are encoded.
@Suite struct CaptureTests {
  private func tone(_ frequency: Double, _ amplitude: Float, seconds: Double = 3) -> [Float] {
    (0..<Int(seconds * 48_000)).map { amplitude * Float(sine(frequency * Double($0) / 48_000)) }
  }

  private func sine(_ turns: Double) -> Double {
    // Bhaskara's approximation is good to a thousandth.
    let part = turns - turns.rounded(.down)
    let half = part < 0.5 ? part * 2 : part * 2 - 1
    let value = 16 * half * (1 - half) / (5 - 4 * half * (1 - half))
    return part < 0.5 ? value : -value
  }

  private func decibels(_ samples: [Float]) -> Double {
    var sum = 0.0
    for sample in samples { sum += Double(sample) * Double(sample) }
    return Decibels.from(amplitude: (2 * sum / Double(max(1, samples.count))).squareRoot())
  }

  private func decibels(_ samples: [Int16]) -> Double { decibels(samples.map { Float($0) / 32768 }) }

  /// Left and right, mixed in portions of any size.
  private func mix(_ left: [Float], _ right: [Float]) -> (sound: [Float], mixer: ChannelMixer) {
    var mixer = ChannelMixer(channels: 2)
    var result: [Float] = []
    for start in stride(from: 0, to: left.count, by: 700) {
      let range = start..<min(left.count, start + 700)
      result += mixer.mix(range.flatMap { [left[$0], right[$0]] })
    }
    return (result, mixer)
  }

  @Test func equalChannelsAreOne() {
    let (sound, mixer) = mix(tone(440, 0.1), tone(440, 0.1))
    #expect(mixer.wiring == .regular && abs(decibels(sound) + 20) < 0.3)
  }

  @Test func anEmptyChannelIsLeftOut() {
    let silent = [Float](repeating: 0.03, count: 144_000)
    let (right, rightMixer) = mix(silent, tone(440, 0.1))
    #expect(rightMixer.wiring == .rightOnly && abs(decibels(right) + 20) < 0.5)
    let (left, leftMixer) = mix(tone(440, 0.1), silent)
    #expect(leftMixer.wiring == .leftOnly && abs(decibels(left) + 20) < 0.5)
  }

  @Test func oppositePhaseDoesNotCancel() {
    let left = tone(440, 0.1)
    let (sound, mixer) = mix(left, left.map { -$0 })
    #expect(mixer.wiring == .opposite && abs(decibels(sound) + 20) < 0.5)
    // From the first block on.
    #expect(decibels(Array(sound[4800..<9600])) > -22)
  }

  @Test func aQuietSideIsNoEmptyChannel() {
    let (_, mixer) = mix(tone(440, 0.1), tone(440, 0.02))
    #expect(mixer.wiring == .regular)
  }

  @Test func silenceDecidesNothing() {
    let nothing = [Float](repeating: 0, count: 48_000)
    let (sound, mixer) = mix(nothing, nothing)
    #expect(mixer.wiring == .regular && sound.allSatisfy { $0 == 0 })
  }

  /// Sound at -60 dB beside an offset of -30 dB.
  @Test func anOffsetIsTakenAway() {
    var mixer = ChannelMixer(channels: 1)
    let sound = mixer.mix(tone(440, 0.001).map { $0 + 0.03 })
    #expect(abs(decibels(Array(sound.dropFirst(4800))) + 60) < 1)
    let amplifier = MicrophoneAmplifier(gain: .none)
    let file = tone(440, 0.001).map { Int16(($0 + 0.03) * 32768) }
    let blocks = stride(from: 0, to: file.count, by: 960).flatMap { amplifier.amplify(Array(file[$0..<$0 + 960])) }
    #expect(abs(decibels(Array(blocks.dropFirst(4800))) + 60) < 1)
  }

  private func amplified(_ sound: [Float], _ gain: MicrophoneGain, isDithered: Bool = false) -> [Int16] {
    let amplifier = MicrophoneAmplifier(gain: gain)
    return stride(from: 0, to: sound.count - 959, by: 960).flatMap {
      amplifier.amplify(sound[$0..<$0 + 960], isDithered: isDithered)
    }
  }

  @Test(arguments: [-20, 0, 20, 40]) func gainIsInDecibels(gain: Int) {
    let level = decibels(amplified(tone(440, 0.001), .fixed(decibels: gain), isDithered: true))
    #expect(abs(level - (-60 + Double(gain))) < 1)
  }

  @Test func gainDoesNotWrap() {
    let loud = amplified(tone(440, 0.9), .fixed(decibels: 40))
    #expect(loud.max() ?? 0 > 30_000 && decibels(loud) < 3)
  }

  /// Below the last of 16 bits, as a quiet microphone with 24.
  @Test func whatIsBelow16BitsIsNoDigitalSilence() {
    let quiet = amplified(tone(440, 0.000_012), .none, isDithered: true)
    let blocks = stride(from: 0, to: quiet.count, by: 960).map { Array(quiet[$0..<$0 + 960]) }
    #expect(blocks.allSatisfy { $0.contains { $0 != 0 } })
    // A dead one stays dead.
    #expect(amplified([Float](repeating: 0, count: 9600), .none, isDithered: true).allSatisfy { $0 == 0 })
  }

  /// Words of half a second, at -50 dB.
  @Test func automaticGainMakesAQuietVoiceAudible() {
    let voice = tone(300, 0.003, seconds: 20).enumerated().map { index, value in
      value * (index / 24_000 % 2 == 0 ? 1 : 0.02) * Float(1 + sine(Double(index) / 4800)) / 2
    }
    let before = decibels(Array(voice.suffix(96_000)))
    let after = decibels(Array(amplified(voice, .automatic).suffix(96_000)))
    #expect(after > before + 15, "\(before) to \(after)")
    #expect(amplified([Float](repeating: 0, count: 96_000), .automatic).allSatisfy { $0 == 0 })
  }
}
