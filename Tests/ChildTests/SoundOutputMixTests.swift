import Devices
import Sound
import Testing
import Wire

@testable import Child

@Suite struct SoundOutputMixTests {
  /// A speaker in fake time, and somebody who reads on.
  private struct Rig {
    var mix = SoundOutputMix(maximumVolume: 100)
    let talk = PlaybackRing(target: .milliseconds(10))
    var now = Instant.zero + .seconds(100)
    /// How many samples each lullaby has; nil is no end.
    var length: Int?
    private var given: [Int: Int] = [:]

    mutating func play(
      _ id: String = "pink-noise", seconds: Double? = nil, timer: Duration = .seconds(60),
      fade: Duration = .seconds(10),
      continuesTimer: Bool = false
    ) -> Int {
      var track = LullabyLibrary.builtIn[1]
      track.id = id
      track.seconds = seconds
      length = seconds.map { Int($0 * 48_000) }
      return mix.play(
        LullabyRequest(track: track, volume: 100, timer: timer, fade: fade, continuesTimer: continuesTimer), now: now)
    }

    /// The speaker's next so many seconds, of a lullaby that is 0.5 all the time.
    mutating func listen(to number: Int? = nil, _ seconds: Double) -> [Int16] {
      var sound: [Int16] = []
      var samples = [Int16](repeating: 0, count: 480)
      for _ in 0..<Int((seconds * 100).rounded()) {
        if let number, let room = mix.room(for: number), room >= 4800 {
          let left = length.map { $0 - given[number, default: 0] } ?? .max
          let count = min(4800, left)
          mix.append([Float](repeating: 0.5, count: count)[...], to: number)
          given[number, default: 0] += count
          if count == left { mix.complete(number) }
        }
        mix.read(into: &samples, talk: talk, at: now)
        sound += samples
        now += .milliseconds(10)
      }
      return sound
    }

    var state: LullabyState { mix.state(now: now) }

    mutating func ended() -> [SoundOutputMix.End] { mix.handleTimeout(now: now).map(\.reason) }
  }

  private func isSmooth(_ sound: [Int16]) -> Bool {
    zip(sound, sound.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) < 60 }
  }

  private let full = Int16(0.5 * 32767)

  @Test func silenceIsPlayedWhenThereIsNothing() {
    var rig = Rig()
    #expect(rig.listen(1).allSatisfy { $0 == 0 })
    #expect(rig.state.phase == .stopped && rig.state.volume == LullabyRequest.defaultVolume && rig.mix.deadline == nil)
  }

  @Test func aLullabyFadesInAndStopsWithAFade() {
    var rig = Rig()
    let number = rig.play()
    var sound = rig.listen(to: number, 2)
    #expect(sound[0] < 10 && sound.last == full)
    #expect(rig.state.phase == .playing && abs(rig.state.positionSeconds - 2) < 0.02)
    rig.mix.stop(now: rig.now)
    #expect(rig.state.phase == .stopped && rig.mix.room(for: number) == nil)
    sound += rig.listen(0.5)
    #expect(sound.last == 0 && isSmooth(sound))
    #expect(rig.ended() == [.command] && rig.ended().isEmpty)
  }

  @Test func pausingKeepsThePlace() {
    var rig = Rig()
    let number = rig.play()
    var sound = rig.listen(to: number, 2)
    rig.mix.pause()
    sound += rig.listen(to: number, 1)
    let position = rig.state.positionSeconds
    #expect(rig.state.phase == .paused && abs(position - 2.3) < 0.05 && sound.last == 0)
    sound += rig.listen(to: number, 5)
    #expect(rig.state.positionSeconds == position)
    #expect(abs((rig.state.remainingSeconds ?? 0) - 52) < 0.1)
    rig.mix.resume()
    sound += rig.listen(to: number, 2)
    #expect(sound.last == full && isSmooth(sound) && abs(rig.state.positionSeconds - position - 2) < 0.02)
  }

  @Test func theTimerFadesAndEnds() {
    var rig = Rig()
    let number = rig.play(timer: .seconds(10), fade: .seconds(4))
    var sound = rig.listen(to: number, 6)
    #expect(sound.last == full && abs((rig.state.remainingSeconds ?? 0) - 4) < 0.01)
    sound += rig.listen(to: number, 2)
    // Half of the fade is a quarter of the amplitude.
    #expect(abs(Int(sound[sound.count - 1]) - Int(full) / 4) < 200)
    sound += rig.listen(to: number, 2.5)
    #expect(sound.suffix(4800).allSatisfy { $0 == 0 } && isSmooth(sound))
    #expect(rig.state.phase == .stopped && rig.state.remainingSeconds == nil && rig.ended() == [.timer])
  }

  @Test func theNextOneEndsWhenTheOneBeforeWouldHave() {
    var rig = Rig()
    var number = rig.play(timer: .seconds(10), continuesTimer: true)
    _ = rig.listen(to: number, 4)
    number = rig.play("brown-noise", timer: .seconds(1800), continuesTimer: true)
    _ = rig.listen(to: number, 2)
    #expect(rig.state.track?.id == "brown-noise" && rig.state.timer == .seconds(10))
    #expect(abs((rig.state.remainingSeconds ?? 0) - 4) < 0.01)
    _ = rig.listen(to: number, 5)
    #expect(rig.state.phase == .stopped)
    _ = rig.play(timer: .seconds(30), continuesTimer: true)
    #expect(rig.state.timer == .seconds(30), "none plays whose timer could go on")
  }

  @Test func withoutASpeakerTheLullabyWaitsAndTheTimerGoesOn() {
    var rig = Rig()
    let number = rig.play(timer: .seconds(60))
    _ = rig.listen(to: number, 2)
    rig.now += .seconds(20)
    #expect(rig.ended().isEmpty && rig.state.phase == .playing)
    #expect(abs(rig.state.positionSeconds - 2) < 0.02 && abs((rig.state.remainingSeconds ?? 0) - 38) < 0.1)
    let sound = rig.listen(to: number, 2)
    #expect(sound[0] < 10 && sound.last == full && isSmooth(sound))
    #expect(abs(rig.state.positionSeconds - 4) < 0.02)
    rig.now += .seconds(36)
    #expect(rig.ended() == [.timer] && rig.state.phase == .stopped && rig.mix.voice == nil)
    #expect(rig.listen(1).allSatisfy { $0 == 0 })
  }

  @Test func whatWasPausedOrStoppedWithoutASpeakerIsNotHeardWhenItIsBack() {
    var rig = Rig()
    let number = rig.play()
    _ = rig.listen(to: number, 2)
    rig.now += .seconds(5)
    rig.mix.pause()
    #expect(rig.listen(to: number, 1).allSatisfy { $0 == 0 })
    rig.mix.resume()
    _ = rig.listen(to: number, 2)
    rig.now += .seconds(5)
    rig.mix.stop(now: rig.now)
    #expect(rig.mix.voice == nil && rig.listen(1).allSatisfy { $0 == 0 })
  }

  @Test func aTrackThatIsThroughEnds() {
    var rig = Rig()
    let number = rig.play(seconds: 3)
    var sound = rig.listen(to: number, 2)
    #expect(abs((rig.state.remainingSeconds ?? 0) - 1) < 0.02)
    sound += rig.listen(to: number, 2)
    #expect(rig.state.phase == .stopped && rig.ended() == [.track])
    #expect(sound.suffix(40_000).allSatisfy { $0 == 0 })
  }

  @Test func theNextLullabyBeginsWhenTheOneBeforeHasFaded() {
    var rig = Rig()
    let first = rig.play("first")
    var sound = rig.listen(to: first, 2)
    let second = rig.play("second")
    #expect(rig.state.track?.id == "second" && rig.mix.room(for: first) == nil && rig.mix.room(for: second) != nil)
    sound += rig.listen(to: second, 2)
    #expect(sound.last == full && isSmooth(sound) && rig.state.positionSeconds < 1.8)
    #expect(rig.ended() == [.command])
    // A third before the second has begun.
    let third = rig.play("third")
    let fourth = rig.play("fourth")
    #expect(rig.mix.room(for: third) == nil)
    sound = rig.listen(to: fourth, 2)
    #expect(sound.last == full && rig.state.track?.id == "fourth")
  }

  @Test func aReaderThatIsLateIsHeardAsAFadeNotAClick() {
    var rig = Rig()
    let number = rig.play()
    _ = rig.listen(to: number, 2)
    let sound = rig.listen(2) + rig.listen(to: number, 2)
    #expect(sound.last == full && sound.contains(0))
    #expect(rig.state.phase == .playing)
  }

  @Test func nothingIsLouderThanTheLimit() {
    var mix = SoundOutputMix(maximumVolume: 50)
    mix.setVolume(90)
    #expect(mix.volume == 50)
    mix.setVolume(-4)
    #expect(mix.volume == 0)
    let talk = PlaybackRing(target: .milliseconds(10))
    talk.write([Int16](repeating: 20_000, count: 4800))
    var samples = [Int16](repeating: 0, count: 480)
    for block in 0..<8 { mix.read(into: &samples, talk: talk, at: .zero + .milliseconds(10 * block)) }
    #expect(samples.allSatisfy { abs(Int($0) - 5000) < 3 })
  }

  @Test func talkIsHeardAboveTheLullaby() {
    var rig = Rig()
    let number = rig.play()
    _ = rig.listen(to: number, 2)
    rig.talk.write((0..<9000).map { $0 % 96 < 48 ? 8000 : -8000 })
    let during = rig.listen(to: number, 0.17).suffix(960)
    let mean = during.reduce(0) { $0 + Int($1) } / during.count
    #expect(mean < Int(full) / 7 && (during.max() ?? 0) > 8000)
    #expect(rig.listen(to: number, 3).last.map { $0 > full - 40 } == true)
  }
}
