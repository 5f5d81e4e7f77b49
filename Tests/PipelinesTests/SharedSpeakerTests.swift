import DeviceNames
import Devices
import Foundation
import Frames
import Synchronization
import Testing
import Wire

@testable import Pipelines

@Suite struct SharedSpeakerTests {
  private func samples(_ path: String) -> Set<Int16> {
    guard let bytes = FileManager.default.contents(atPath: path), bytes.count > 44 else { return [] }
    let pairs = stride(from: 44, to: bytes.count - 1, by: 2)
    return Set(pairs.map { Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) })
  }

  /// Two rooms and an alarm over one of them, on one speaker that others may not open.
  @Test func whatSeveralPlayIsHeardTogether() throws {
    let path = NSTemporaryDirectory() + "cradle-\(UUID().uuidString).wav"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let speaker = SharedSpeaker(.file(path: path))
    let pulls = Atomic(0)
    func add(_ value: Int16) -> SharedSpeaker.Part {
      speaker.add { samples, _ in
        for index in samples.indices { samples[index] = value }
        pulls.wrappingAdd(1, ordering: .relaxed)
      } stateChanged: { _ in
      }
    }
    func wait(_ count: Int) {
      let (end, deadline) = (pulls.load(ordering: .relaxed) + count, MonotonicClock.now + .seconds(20))
      while pulls.load(ordering: .relaxed) < end, MonotonicClock.now < deadline { usleep(10_000) }
    }
    let quiet = add(1000)
    wait(5)
    let loud = add(30_000)
    wait(10)
    speaker.remove(quiet)
    speaker.remove(loud)
    let played = samples(path)
    #expect(played.contains(1000), "\(played)")
    // The sum, bent below full scale.
    #expect(played.max().map { $0 > 26_000 && $0 < 32_200 } == true, "\(played)")
  }

  /// The state of a speaker that is open already is known at once.
  @Test func whoComesLaterLearnsOfTheSpeaker() throws {
    let speaker = SharedSpeaker(.null)
    let states = Mailbox<SpeakerSupervisor.State>(capacity: 8)
    let silence: PlaybackPull = { samples, _ in
      for index in samples.indices { samples[index] = 0 }
    }
    let early = speaker.add(silence, stateChanged: { states.put($0) })
    guard case .running(let first) = states.take() else { return #expect(Bool(false)) }
    let late = speaker.add(silence, stateChanged: { states.put($0) })
    guard case .running(first) = states.take() else { return #expect(Bool(false)) }
    for part in [early, late] { speaker.remove(part) }
  }
}
