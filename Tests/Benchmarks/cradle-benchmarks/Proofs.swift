import ArgumentParser
import Control
import HearingProof
import Monitoring
import TestSupport
import Wire

/// What the alarm's core costs, and how often the detector of the chirp is right and wrong.
struct Proofs: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Feeds the alarm an hour of arrivals, and the detector rooms with and without the chirp.")

  @Option(help: "Seconds of arrivals.")
  var seconds = 3600
  @Option(help: "Rooms with a chirp.")
  var chirps = 100
  @Option(help: "Rooms without one.")
  var rooms = 10_000

  private struct Report: Encodable {
    /// Of a core, for one child at 30 pictures a second.
    var alarmPercent: Double
    var chirps: Int
    var found: Int
    var rooms: Int
    var foundFalsely: Int
    /// Of a core, while the detector listens.
    var detectorPercent: Double
  }

  func run() throws {
    let found = (0..<chirps).count { trial in
      let place = 12_000 + 97 * trial
      var detector = ChirpDetector()
      let heard = SimulatedRoom(seed: UInt64(trial) + 10).hear(
        Chirp.samples(levelDb: -40), chirpRMS: 5, at: place, count: 72_000)
      return detector.add(heard).map { abs($0.position - place) < 2000 } ?? false
    }
    var spent: Duration = .zero
    let falsely = (0..<rooms).count { trial in
      let sound = Self.sound(UInt64(trial))
      let began = processorTime()
      var detector = ChirpDetector()
      let finding = detector.add(sound)
      spent += processorTime() - began
      return finding != nil
    }
    try printJSON(
      Report(
        alarmPercent: alarmPercent(), chirps: chirps, found: found, rooms: rooms, foundFalsely: falsely,
        detectorPercent: rooms > 0 ? spent.inSeconds / (1.5 * Double(rooms)) * 100 : 0))
  }

  /// 1.5 s without the chirp: noise of a room, and in two of three something that a child's room has.
  private static func sound(_ trial: UInt64) -> [Int16] {
    let noise = SimulatedRoom(seed: trial + 50_000).hear([], chirpRMS: 0, at: 0, count: 72_000)
    var random = SeededGenerator(seed: trial)
    switch trial % 3 {
    case 0: return noise
    case 1: return added(noise, cry(&random))
    default: return added(noise, clatter(&random))
    }
  }

  private static func added(_ one: [Int16], _ other: [Float]) -> [Int16] {
    zip(one, other).map { Int16(max(-32768, min(32767, Float($0) + $1))) }
  }

  /// Crying: a fundamental of 300 to 600 Hz that glides, with its harmonics up to 8 kHz.
  private static func cry(_ random: inout SeededGenerator) -> [Float] {
    let base = Float.random(in: 300...600, using: &random)
    let glide = Float.random(in: -200...200, using: &random)
    let loudness = Float.random(in: 50...6000, using: &random)
    var phases = [Float](repeating: 0, count: 14)
    return (0..<72_000).map { index in
      let frequency = base + glide * Float(index) / 72_000
      var value: Float = 0
      for harmonic in phases.indices {
        // Of a turn; a parabola in the place of a sine.
        phases[harmonic] += frequency * Float(harmonic + 1) / 48_000
        phases[harmonic] -= phases[harmonic].rounded(.down)
        let turn = 2 * phases[harmonic] - 1
        value += 4 * turn * (1 - abs(turn)) / Float(harmonic + 1)
      }
      return value * loudness
    }
  }

  /// Knocks and rattles: bursts of white noise that die away.
  private static func clatter(_ random: inout SeededGenerator) -> [Float] {
    var level: Float = 0
    return (0..<72_000).map { _ in
      if Int.random(in: 0..<6000, using: &random) == 0 { level = Float.random(in: 100...12_000, using: &random) }
      level *= 0.9995
      return Float.random(in: -1...1, using: &random) * level
    }
  }

  /// As one child that sends 50 packets of sound and 30 pictures a second is watched.
  private func alarmPercent() -> Double {
    var alarm = Alarm()
    var now = Instant.zero
    alarm.note(.phase(.live), now: now)
    alarm.note(.hello, now: now)
    let began = processorTime()
    var rang = 0
    for step in 0..<(seconds * 150) {
      now += .nanoseconds(1_000_000_000 / 150)
      if step % 3 == 0 { alarm.note(.sound, now: now) }
      if step % 5 == 0 { alarm.note(.picture(), now: now) }
      if step % 150 == 0 {
        let track = Alarm.Track(state: .running, captured: UInt64(step))
        alarm.note(.heartbeat(video: track, audio: track), now: now)
        if alarm.evaluate(now: now) != nil { rang += 1 }
      }
      if step % 75 == 0, alarm.evaluate(now: now) != nil { rang += 1 }
    }
    precondition(rang == 0, "nothing was wrong")
    return (processorTime() - began).inSeconds / Double(seconds) * 100
  }
}
