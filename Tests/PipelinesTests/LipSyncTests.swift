import Codecs
import DeviceNames
import Devices
import Frames
import Picture
import RTPReceiving
import Testing
import Wire

@testable import Pipelines

@Suite struct LipSyncTests {
  @Test(arguments: [(-50, 0), (0, 0), (20, 0), (21, 1), (200, 180), (500, 480)])
  func onlyWhatIsNoticedIsHeld(lag: Int, hold: Int) {
    #expect(LipSync.hold(soundLag: .milliseconds(lag)) == .milliseconds(hold))
  }

  @Test func theFiguresTellWhoIsLaterAndByHowMuch() {
    var figures = LipSyncFigures()
    #expect(figures.median == nil && figures.extent == nil)
    for difference in [-40, -30, -20, -20, -20, -10, 0, 5, 12, 5000] {
      figures.add(.milliseconds(difference))
    }
    #expect(figures.median == -20)
    #expect(figures.extent == 4000, "more than four seconds count as four")
    figures.reset()
    figures.add(.seconds(-1 << 40))
    #expect(figures.median == -2000 && figures.extent == 2000)
  }

  /// Three pictures, played `hold` after one another's arrival; when each was shown after its handing over.
  private func shown(hold: Duration) throws -> [Duration] {
    let encoder = try VP8Encoder(configuration: .init(width: 160, height: 96, bitrateKbps: 200))
    let picture = TestPicture(width: 160, height: 96)
    let pictures = Mailbox<Instant>(capacity: 8)
    let player = VideoPlayer(needsKeyFrame: {}, show: { _ in pictures.put(MonotonicClock.now) })
    player.start()
    defer { player.stop() }
    var times: [Duration] = []
    for index in 0..<3 {
      let time = MonotonicClock.now
      let frame = picture.draw(captureTime: time, sequence: UInt64(index), unixNanoseconds: 0)
      let encoded = try #require(try encoder.encode(frame))
      let begin = MonotonicClock.now
      player.play(
        ReceivedVideoFrame(
          payload: encoded.data, rtpTimestamp: UInt32(index) * 3000, isKeyFrame: encoded.isKeyFrame,
          firstArrival: begin, lastArrival: begin), hold: hold)
      times.append(try #require(pictures.take(until: begin + .seconds(10))) - begin)
    }
    return times
  }

  @Test func aPictureWaitsForItsSound() throws {
    let delays = try shown(hold: .milliseconds(75))
    #expect(delays.allSatisfy { $0 >= .milliseconds(75) }, "\(delays)")
  }

  /// Whatever is asked for.
  @Test func noPictureWaitsForLong() throws {
    let delays = try shown(hold: .seconds(30))
    #expect(delays.allSatisfy { $0 < .seconds(5) }, "\(delays)")
  }

  @Test func theSpeakersDelayIsKnownWhileItPlays() throws {
    let states = Mailbox<SpeakerSupervisor.State>(capacity: 8)
    let player = AudioPlayer(speaker: .null) { states.put($0) }
    #expect(player.outputDelay == nil)
    player.start()
    defer { player.stop() }
    let deadline = MonotonicClock.now + .seconds(20)
    while player.outputDelay == nil, MonotonicClock.now < deadline {
      MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(10))
    }
    let delay = try #require(player.outputDelay)
    #expect(delay < .milliseconds(50))
  }
}
