import PeerConnection
import SDP
import Testing
import Wire

@testable import Parent
@testable import RTPReceiving

@Suite struct MediaPlanTests {
  /// On a quiet network packets come every 20 ms, give or take a fraction of a millisecond. Each of them brings the one
  /// before it to the speaker; a timer would wake the event loop once more for it.
  @Test func regularSoundNeedsNoTimer() {
    let plan = MediaPlan.configuration(wantsVideo: false, wantsAudio: true).receivedAudio
    var buffer = AudioJitterBuffer(configuration: plan, clockRate: 48_000)
    var timers = 0
    var played = 0
    for number in Int64(0)..<500 {
      // The first one, which the delay is reckoned from, is neither the fastest nor the slowest.
      let arrival = Instant(nanoseconds: number * 20_000_000 + ((number * 7919 + 8) % 17) * 50_000)
      while let deadline = buffer.nextDeadline, deadline < arrival {
        timers += 1
        buffer.handleTimeout(now: deadline)
      }
      // RFC 6716 section 3.1: one frame of 20 ms.
      buffer.insert(
        [0xf8, 1, 2, 3], sequence: number, timestamp: UInt32(number * 960), isRecovered: false, now: arrival)
      buffer.playWhatIsReady(now: arrival)
      while buffer.poll() != nil { played += 1 }
    }
    #expect(timers == 0)
    #expect(played >= 498)
  }

  /// The child asks for it while much is lost.
  @Test func theChildMayAskForPicturesToWait() throws {
    let media = MediaPlan.configuration(wantsVideo: true, wantsAudio: true).media
    let video = try #require(media.first { $0.kind == .video })
    #expect(video.headerExtensions.contains(RTPHeaderExtensionURI.playoutDelay))
    #expect(video.codecs.contains { $0.feedback.contains("rrtr") })
  }

  @Test func soundIsSteadyFromTheStartWhereThatWasAskedFor() {
    let prompt = MediaPlan.configuration(wantsVideo: true, wantsAudio: true)
    let steady = MediaPlan.configuration(wantsVideo: true, wantsAudio: true, steadyDelay: WatchOptions.steadyDelay)
    #expect(prompt.steadyDelay == .zero && steady.steadyDelay == .milliseconds(400))
  }
}
