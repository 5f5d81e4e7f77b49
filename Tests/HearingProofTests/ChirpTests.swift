import Codecs
import Foundation
import Frames
import HearingProof
import TestSupport
import Testing
import Wire

struct ChirpTests {
  /// `CHIRP_TRIALS=5 swift test --filter ChirpTests` for fewer, where a processor is emulated.
  private static let trials = ProcessInfo.processInfo.environment["CHIRP_TRIALS"].flatMap(Int.init) ?? 100

  /// Through the real encoder and decoder, at a bit rate.
  private func sent(_ samples: [Int16], kbps: Int, loss: Int) throws -> [Int16] {
    let encoder = try OpusEncoder(bitrateKbps: kbps, expectedLossPercent: loss)
    let decoder = try OpusDecoder()
    var received: [Int16] = []
    for start in stride(from: 0, to: samples.count - AudioFormat.samplesPerBlock + 1, by: AudioFormat.samplesPerBlock) {
      let block = AudioBlock(
        samples: Array(samples[start..<(start + AudioFormat.samplesPerBlock)]), captureTime: MonotonicClock.now,
        samplePosition: UInt64(start))
      received += try decoder.decode(try encoder.encode(block).data)
    }
    return received
  }

  private func rms(_ samples: some Collection<Int16>) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
  }

  @Test func aChirpIsShortAndAsSoftAsItIsAskedFor() {
    let loudest = Chirp.samples(levelDb: 0)
    #expect(loudest.count < Chirp.sampleRate / 2)
    // -40 dB of full scale, whatever is asked for.
    #expect(abs(rms(loudest) - 327.68) < 3)
    #expect(abs(rms(Chirp.samples(levelDb: -60)) - 32.8) < 1)
  }

  /// Pink noise as of 45 dB(A) in the room: 8 steps of 16 bits, with a microphone of -26 dBFS at 94 dB. The chirp is 4 dB
  /// softer than the noise.
  @Test(arguments: [(40, 10), (40, 0), (24, 10)])
  func aChirpIsFoundInARoomAndBehindOpus(kbps: Int, loss: Int) throws {
    let chirp = Chirp.samples(levelDb: -40)
    var found = 0
    for trial in 0..<Self.trials {
      let room = SimulatedRoom(seed: UInt64(trial) + 10)
      let place = 12_000 + 97 * trial
      let heard = room.hear(chirp, chirpRMS: 5, at: place, count: 72_000)
      var detector = ChirpDetector()
      let finding = detector.add(try sent(heard, kbps: kbps, loss: loss))
      if let finding, abs(finding.position - place) < 2000 { found += 1 }
    }
    #expect(found * 100 >= 99 * Self.trials)
  }

  @Test func noiseSilenceAndATwinAreNoChirp() throws {
    for trial in 0..<Self.trials {
      let room = SimulatedRoom(seed: UInt64(trial) + 50_000)
      var detector = ChirpDetector()
      #expect(detector.add(room.hear([], chirpRMS: 0, at: 0, count: 72_000)) == nil)
    }
    var detector = ChirpDetector()
    #expect(detector.add([Int16](repeating: 0, count: 96_000)) == nil)
    #expect(detector.add([Int16](repeating: .min, count: 96_000)) == nil)
    // Backwards it is another sequence.
    #expect(detector.add(Chirp.samples(levelDb: -40).reversed() + [Int16](repeating: 0, count: 48_000)) == nil)
  }
}
