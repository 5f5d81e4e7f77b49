import DeviceNames
import Devices
import Frames
import Glibc
import Pipelines
import RTPReceiving
import Sound
import Testing
import Wire

@testable import Child

@Suite struct SoundOutputTests {
  private func wait(_ condition: () -> Bool) -> Bool {
    let deadline = MonotonicClock.now + .seconds(4)
    while MonotonicClock.now < deadline {
      if condition() { return true }
      usleep(10_000)
    }
    return false
  }

  private func play(
    _ output: SoundOutput, _ track: LullabyTrack, timer: Duration = .seconds(60)
  ) -> Result<LullabyState, SoundFileError>? {
    let answers = Mailbox<Result<LullabyState, SoundFileError>>(capacity: 1)
    output.play(LullabyRequest(track: track, volume: 80, timer: timer)) { answers.put($0) }
    return answers.take(until: MonotonicClock.now + .seconds(4))
  }

  @Test func aLullabyPlaysWithNobodyWatchingAndObeys() throws {
    let output = SoundOutput(speaker: .null, maximumVolume: 60) { _ in }
    output.start()
    defer { output.stop() }
    #expect(output.lullaby.phase == .stopped)
    let state = try #require(try play(output, LullabyLibrary.builtIn[3])?.get())
    #expect(state.phase == .playing && state.track?.id == "heartbeat" && state.volume == 60)
    #expect(wait { output.lullaby.positionSeconds > 0.2 })
    guard case .running(let info) = output.speaker else { return #expect(Bool(false)) }
    #expect(info.device == "null")
    #expect(output.pauseLullaby().phase == .paused && output.resumeLullaby().phase == .playing)
    #expect(output.setVolume(10).volume == 10 && output.setVolume(100).volume == 60)
    #expect(output.stopLullaby().phase == .stopped)
  }

  @Test func theTimerEndsItAndIsReported() throws {
    let events = Mailbox<SoundOutput.Event>(capacity: 10)
    let output = SoundOutput(speaker: .null, maximumVolume: 60) { events.put($0) }
    output.start()
    defer { output.stop() }
    _ = try #require(play(output, LullabyLibrary.builtIn[0], timer: .milliseconds(100)))
    let deadline = MonotonicClock.now + .seconds(4)
    while let event = events.take(until: deadline) {
      guard case .lullabyEnded(let track, let reason) = event else { continue }
      #expect(track.id == "white-noise" && reason == .timer)
      return
    }
    Issue.record("nothing was reported")
  }

  @Test func stoppingHoldsForWhatIsNotOpenYetToo() throws {
    let output = SoundOutput(speaker: .null, maximumVolume: 60) { _ in }
    let answers = Mailbox<Result<LullabyState, SoundFileError>>(capacity: 1)
    // Nothing is opened before the threads run.
    output.play(LullabyRequest(track: LullabyLibrary.builtIn[0])) { answers.put($0) }
    #expect(output.stopLullaby().phase == .stopped)
    output.start()
    defer { output.stop() }
    let state = try #require(try answers.take(until: MonotonicClock.now + .seconds(4))?.get())
    #expect(state.phase == .stopped && output.lullaby.phase == .stopped)
  }

  @Test func aFileThatIsNoneIsRefusedAndWhatPlaysGoesOn() throws {
    let output = SoundOutput(speaker: .null, maximumVolume: 60) { _ in }
    output.start()
    defer { output.stop() }
    _ = try #require(play(output, LullabyLibrary.builtIn[2]))
    let track = LullabyTrack(id: "gone", title: "Gone", content: .file(path: "/nonexistent.mp3"))
    guard case .failure(.notFound) = play(output, track) else { return #expect(Bool(false)) }
    #expect(output.lullaby.track?.id == "brown-noise" && output.lullaby.phase == .playing)
  }

  @Test func whileTheSpeakerIsMissingTheLullabyWaits() throws {
    let output = SoundOutput(speaker: .pcm(name: "hw:NoSuchCard"), maximumVolume: 60) { _ in }
    output.start()
    defer { output.stop() }
    _ = try #require(play(output, LullabyLibrary.builtIn[1]))
    #expect(wait { if case .missing = output.speaker { true } else { false } })
    #expect(output.lullaby.phase == .playing && output.lullaby.positionSeconds == 0)
    #expect((output.lullaby.remainingSeconds ?? 60) < 60)
  }

  @Test func withoutAConfiguredSpeakerNothingRuns() {
    let output = SoundOutput(speaker: .off, maximumVolume: 60) { _ in }
    output.start()
    guard case .off = output.speaker else { return #expect(Bool(false)) }
    output.stop()
  }

  @Test func everyWordOfATalkIsHeard() throws {
    let path = "/tmp/cradle-output-\(getpid())-\(UInt64.random(in: 0 ... .max)).wav"
    defer { unlink(path) }
    let output = SoundOutput(speaker: .file(path: path), maximumVolume: 100) { _ in }
    // Talking begins before the speaker runs.
    let encoder = try TalkPackets()
    for packet in try encoder.packets(15) { output.hear(packet) }
    output.start()
    for packet in try encoder.packets(15) {
      usleep(20_000)
      output.hear(packet)
    }
    #expect(wait { output.talkStatistics.ring.underruns > 0 })
    output.stop()
    let statistics = output.talkStatistics
    #expect(statistics.ring.lostSamples == 0 && statistics.sound.packetsRefused == 0)
    let samples = try TalkPackets.samples(of: path)
    let loud = samples.filter { $0.magnitude > 500 }.count
    // 600 ms of a tone, whose zeros are not loud; the encoder's run-in takes a little.
    #expect(loud > 28_800 * 8 / 10 && loud < 28_800, "\(loud)")
  }
}
