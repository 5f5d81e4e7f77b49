import DeviceNames
import Frames
import Glibc
import Sound
import Synchronization
import Testing
import Wire

@testable import Devices

struct SpeakerTests {
  private func temporaryPath() -> String {
    "/tmp/cradle-speaker-\(getpid())-\(UInt64.random(in: 0 ... .max))"
  }

  private func error(_ body: () throws(DeviceError) -> Void) -> DeviceError? {
    do throws(DeviceError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  /// A counter as sound: a missing, repeated or changed sample shows.
  private func counting() -> PlaybackPull {
    let next = Atomic(0)
    return { (samples, _) in
      let start = next.add(samples.count, ordering: .relaxed).oldValue
      for index in samples.indices { samples[index] = Int16(truncatingIfNeeded: start + index) }
    }
  }

  private func bytes(of path: String) throws -> [UInt8] {
    let file = try MediaFile(path: path)
    return try file.bytes(at: 0, count: file.count)
  }

  @Test func nothingIsPlayedInRealTime() throws {
    let speaker = try Speakers.open(.null, pull: counting())
    let reports = Collector<PlaybackProgress>()
    speaker.start(deliver: { reports.put($0) }, failed: { _ in Issue.record("failed") })
    let first = try #require(reports.next())
    let second = try #require(reports.next())
    let third = try #require(reports.next())
    speaker.stop()
    #expect(first.framesWritten == 480 && third.framesWritten - second.framesWritten == 4800)
    #expect(third.time - second.time == .milliseconds(100))
  }

  @Test func aFileIsAWAVFileWhileItIsWrittenAndAfter() throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let speaker = try Speakers.open(.file(path: path), pull: counting())
    let reports = Collector<PlaybackProgress>()
    speaker.start(deliver: { reports.put($0) }, failed: { _ in Issue.record("failed") })
    while let report = reports.next(), report.framesWritten < 50_000 {}
    let growing = try WAVHeader.parse(ByteArray(bytes: bytes(of: path)))
    #expect(growing.frameCount == 48_000 && growing.sampleRate == 48_000 && growing.channels == 1)
    speaker.stop()
    let whole = try bytes(of: path)
    let header = try WAVHeader.parse(ByteArray(bytes: whole))
    #expect(header.dataOffset == 44 && header.frameCount * 2 == whole.count - 44 && header.frameCount >= 50_000)
    for index in 0..<header.frameCount {
      let sample = UInt16(whole[44 + 2 * index]) | UInt16(whole[45 + 2 * index]) << 8
      guard sample == UInt16(truncatingIfNeeded: index) else { return #expect(Bool(false), "sample \(index)") }
    }
  }

  @Test func whatCannotBeWrittenSaysWhy() throws {
    let folder = error { () throws(DeviceError) in
      _ = try Speakers.open(.file(path: "/nonexistent/a.wav"), pull: counting())
    }
    #expect(folder?.reason == .notFound)
    let device = error { () throws(DeviceError) in
      _ = try Speakers.open(.file(path: "/dev/null"), pull: counting())
    }
    #expect(device?.summary == "not a regular file")
    let none = error { () throws(DeviceError) in _ = try Speakers.open(.off, pull: counting()) }
    #expect(none?.reason == .notFound)
    let card = error { () throws(DeviceError) in
      _ = try Speakers.open(.pcm(name: "hw:NoSuchCard"), pull: counting())
    }
    #expect(card?.reason == .notFound && card?.description.contains("speakers") == true)
  }

  /// ALSA's own null device has no clock, so ours has to do.
  @Test func alsaNullIsPlayedInRealTime() throws {
    let speaker = try Speakers.open(.pcm(name: "null"), pull: counting())
    #expect(speaker.info.channels == 1 && speaker.info.latency >= .milliseconds(10))
    let reports = Collector<PlaybackProgress>()
    speaker.start(deliver: { reports.put($0) }, failed: { _ in Issue.record("failed") })
    var last: PlaybackProgress?
    let begin = MonotonicClock.now
    while let report = reports.next(), MonotonicClock.now - begin < .milliseconds(700) { last = report }
    speaker.stop()
    let seconds = (MonotonicClock.now - begin).inSeconds
    #expect(Double(try #require(last).framesWritten) < seconds * 48_000 + 9600)
  }

  /// What an ALSA device gets, through ALSA's file plug-in.
  @Test(arguments: ["tee:null,'%',raw", "plug:\"tee:null,'%',raw\""])
  func alsaGetsEverySampleInItsOrder(pattern: String) throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let name = pattern.split(separator: "%", omittingEmptySubsequences: false).joined(separator: path)
    let speaker = try Speakers.open(.pcm(name: name), pull: counting())
    let reports = Collector<PlaybackProgress>()
    speaker.start(deliver: { reports.put($0) }, failed: { Issue.record("\($0)") })
    while let report = reports.next(), report.framesWritten < 24_000 {}
    speaker.stop()
    let samples = try bytes(of: path)
    let channels = speaker.info.channels
    try #require(samples.count > 20_000 * 2 * channels)
    for index in 0..<samples.count / (2 * channels) {
      let sample = UInt16(samples[2 * channels * index]) | UInt16(samples[2 * channels * index + 1]) << 8
      guard sample == UInt16(truncatingIfNeeded: index) else { return #expect(Bool(false), "sample \(index)") }
    }
  }

  @Test func aSpeakerRunsUnderASupervisor() throws {
    let ring = PlaybackRing()
    let supervisor = SpeakerSupervisor(.null, pull: ring.pull)
    let states = Collector<SpeakerSupervisor.State>()
    let reports = Collector<PlaybackProgress>()
    supervisor.start(deliver: { reports.put($0) }, stateChanged: { states.put($0) })
    guard case .running(let info) = try #require(states.next()) else { return #expect(Bool(false)) }
    #expect(info.device == "null" && reports.next() != nil)
    supervisor.stop()
    supervisor.start(deliver: { reports.put($0) }, stateChanged: { states.put($0) })
    #expect(states.next() != nil)
    supervisor.stop()
  }

  @Test func aSpeakerThatWasNeverStartedStops() throws {
    try Speakers.open(.pcm(name: "null"), pull: counting()).stop()
    try Speakers.open(.null, pull: counting()).stop()
  }

  @Test func aPullThatChangesTheLengthIsPutRight() throws {
    let calls = Atomic(0)
    let speaker = try Speakers.open(.null) { (samples, _) in
      if calls.add(1, ordering: .relaxed).oldValue % 2 == 0 { samples = [] } else { samples += [1, 2, 3] }
    }
    let reports = Collector<PlaybackProgress>()
    speaker.start(deliver: { reports.put($0) }, failed: { _ in Issue.record("failed") })
    _ = reports.next()
    let second = reports.next()
    speaker.stop()
    #expect(second?.framesWritten == 5280)
  }
}
