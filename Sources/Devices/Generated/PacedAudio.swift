internal import Frames
internal import Wire

/// Generates or reads sound in real time: the thread behind the test tone and WAV files.
final class PacedAudio: MediaSource {
  let info: AudioSourceInfo
  private let makeNext: @Sendable () -> Next
  private let thread = SourceThread()

  /// Makes the block for a start time and sample position.
  typealias Next = (Instant, UInt64) throws(DeviceError) -> AudioBlock

  /// `makeNext` is called once on the thread; the closure it returns is then called there for each block.
  init(info: AudioSourceInfo, makeNext: @escaping @Sendable () -> Next) {
    self.info = info
    self.makeNext = makeNext
  }

  func start(
    deliver: @escaping @Sendable (AudioBlock) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "sound") { [makeNext] stop in
      let next = makeNext()
      var position: UInt64 = 0
      var pace = Pace(start: MonotonicClock.now, secondsNumerator: 1, denominator: 50)
      do throws(DeviceError) {
        while true {
          let (deadline, skipped) = pace.next(now: MonotonicClock.now)
          if stop.wait(until: deadline) { return }
          position += skipped * UInt64(AudioFormat.samplesPerBlock)
          // The deadline is the capture time, so that the thread's lateness does not show as jitter.
          deliver(try next(deadline, position))
          position += UInt64(AudioFormat.samplesPerBlock)
        }
      } catch {
        failed(error)
      }
    }
  }

  func stop() {
    thread.stop()
  }
}
