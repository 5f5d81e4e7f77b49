import Frames
import Synchronization
import Testing
import Wire

@testable import Devices

/// A device that opens and delivers, but nothing new.
@Suite struct StalenessTests {
  private typealias Supervisor = DeviceSupervisor<String, Int>

  /// Delivers numbers from a thread of its own until it is stopped.
  private final class Counter: MediaSource {
    let info: String
    private let thread = SourceThread()
    private let next: @Sendable () -> Int

    init(_ info: String, next: @escaping @Sendable () -> Int) {
      self.info = info
      self.next = next
    }

    func start(deliver: @escaping @Sendable (Int) -> Void, failed: @escaping @Sendable (DeviceError) -> Void) {
      thread.start(name: "counter") { [next] stop in
        while !stop.wait(until: MonotonicClock.now + .milliseconds(2)) { deliver(next()) }
      }
    }

    func stop() { thread.stop() }
  }

  private var timing: SupervisorTiming {
    var timing = SupervisorTiming()
    (timing.firstRetry, timing.longestRetry, timing.settle) = (.milliseconds(5), .milliseconds(10), .milliseconds(1))
    timing.stale = .milliseconds(300)
    return timing
  }

  private func rule(isLeftOut: Bool) -> Staleness<Int> {
    Staleness(fault: { $0 == $1 ? .frozen : nil }, isLeftOut: isLeftOut)
  }

  @Test func aDeviceThatRepeatsItselfFailsAndRunsAgainWithItsFirstFreshElement() throws {
    let number = Atomic(1)
    let isFrozen = Atomic(true)
    let opened = Atomic(0)
    let supervisor = Supervisor(name: "test", timing: timing, staleness: rule(isLeftOut: true)) { _ in
      opened.add(1, ordering: .relaxed)
      return Counter("cam") {
        isFrozen.load(ordering: .relaxed) ? number.load(ordering: .relaxed) : number.add(1, ordering: .relaxed).newValue
      }
    }
    let states = Collector<Supervisor.State>()
    let elements = Collector<Int>()
    supervisor.start(deliver: { elements.put($0) }, stateChanged: { states.put($0) })
    // The first one is news; what follows is the same.
    guard case .running = states.next() else { return #expect(Bool(false), "it did not run") }
    guard case .missing(let error) = states.next() else { return #expect(Bool(false), "it did not fail") }
    #expect(error.reason == .frozen && error.device == "device" && error.advice != nil)
    // Opened again it is still frozen: no news.
    isFrozen.store(false, ordering: .relaxed)
    guard case .running = states.next() else { return #expect(Bool(false), "it did not come back") }
    supervisor.stop()
    let count = opened.load(ordering: .relaxed)
    #expect(count > 1)
    #expect(elements.next() == 1)
    #expect((elements.next() ?? 0) > 1, "a repeated element was delivered")
  }

  @Test func soundThatRepeatsItselfGoesOn() {
    let supervisor = Supervisor(name: "test", timing: timing, staleness: rule(isLeftOut: false)) { _ in
      Counter("mic") { 7 }
    }
    let elements = Collector<Int>()
    supervisor.start(deliver: { elements.put($0) }, stateChanged: { _ in })
    #expect((0..<20).allSatisfy { _ in elements.next() == 7 })
    supervisor.stop()
  }

  @Test func whoMayRepeatItselfRunsOn() {
    let supervisor = Supervisor(name: "test", timing: timing) { _ in Counter("file") { 7 } }
    let states = Collector<Supervisor.State>()
    let elements = Collector<Int>()
    supervisor.start(deliver: { elements.put($0) }, stateChanged: { states.put($0) })
    for _ in 0..<300 { #expect(elements.next() == 7) }
    supervisor.stop()
    guard case .running = states.next() else { return #expect(Bool(false), "it did not run") }
  }

  @Test func silenceIsZerosOnly() {
    func block(_ samples: [Int16]) -> AudioBlock {
      let filled = samples + [Int16](repeating: 0, count: AudioFormat.samplesPerBlock - samples.count)
      return AudioBlock(samples: filled, captureTime: .zero, samplePosition: 0)
    }
    let rule = Staleness<AudioBlock>.sounds
    #expect(rule.fault(block([]), nil) == .digitalSilence)
    #expect(rule.fault(block([0, 0, 1]), nil) == nil)
    #expect(rule.fault(block([0, 0, 1]), block([0, 0, 1])) == .digitalSilence)
    #expect(rule.fault(block([0, 0, 1]), block([0, 0, -1])) == nil)
  }

  @Test func oneChangedPixelIsAnotherPicture() {
    let pool = VideoFramePool(width: 64, height: 48)
    func frame() -> VideoFrame {
      let frame = pool.makeFrame(captureTime: .zero, sequence: 0)
      frame.mutableY.update(repeating: 30, count: frame.strideY * 48)
      frame.mutableU.update(repeating: 128, count: frame.strideUV * 24)
      frame.mutableV.update(repeating: 128, count: frame.strideUV * 24)
      return frame
    }
    let (one, same, another, colour) = (frame(), frame(), frame(), frame())
    another.mutableY[another.strideY * 47 + 63] = 31
    colour.mutableV[colour.strideUV * 23 + 31] = 127
    let rule = Staleness<VideoFrame>.pictures
    #expect(rule.fault(one, nil) == nil)
    #expect(rule.fault(same, one) == .frozen)
    #expect(rule.fault(another, one) == nil)
    #expect(rule.fault(colour, one) == nil)
  }

  private static func frame(luma: UInt8, lastPixel: UInt8? = nil) -> VideoFrame {
    let frame = VideoFramePool(width: 64, height: 48).makeFrame(captureTime: .zero, sequence: 0)
    frame.mutableY.update(repeating: luma, count: frame.strideY * 48)
    frame.mutableU.update(repeating: 128, count: frame.strideUV * 24)
    frame.mutableV.update(repeating: 128, count: frame.strideUV * 24)
    if let lastPixel { frame.mutableY[frame.strideY * 47 + 63] = lastPixel }
    return frame
  }

  /// Cameras that cut off the noise repeat themselves in a dark room.
  @Test(arguments: [
    (16, nil, false), (0, nil, false), (24, nil, false), (25, nil, true), (16, 17, true), (120, nil, true),
  ])
  func aBlackPictureMayRepeatItself(luma: UInt8, pixel: UInt8?, isFault: Bool) {
    let rule = Staleness<VideoFrame>.pictures
    let frame = Self.frame(luma: luma, lastPixel: pixel)
    #expect(rule.fault(frame, nil) == nil)
    #expect((rule.fault(frame, Self.frame(luma: luma, lastPixel: pixel)) == .frozen) == isFault)
    #expect(rule.fault(frame, Self.frame(luma: luma &+ 1)) == nil)
  }
}
