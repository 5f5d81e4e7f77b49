internal import DeviceNames
internal import Frames
internal import Wire

/// Generates or reads pictures in real time: the thread behind the test picture and Y4M files.
final class PacedVideo: MediaSource {
  let info: VideoSourceInfo
  private let interval: (numerator: Int, denominator: Int)
  private let makeNext: @Sendable () -> Next
  private let demand: Demand?
  private let thread = SourceThread()

  /// Makes the picture for a capture time and sequence number.
  typealias Next = (Instant, UInt64) throws(DeviceError) -> VideoFrame

  /// `interval` is in seconds. `makeNext` is called once on the thread; the closure it returns is then called there for
  /// each frame. Without demand only the first picture is made.
  init(
    info: VideoSourceInfo, interval: (numerator: Int, denominator: Int), demand: Demand?,
    makeNext: @escaping @Sendable () -> Next
  ) {
    self.info = info
    self.interval = interval
    self.demand = demand
    self.makeNext = makeNext
  }

  func start(
    deliver: @escaping @Sendable (VideoFrame) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    let rate = info.request.framesPerSecond * VideoRequest.rateTolerance
    thread.start(name: "picture") { [interval, demand, makeNext] stop in
      let next = makeNext()
      var sequence: UInt64 = 0
      var isFirst = true
      var delivered = RateBound(rate: rate)
      var pace = Pace(
        start: MonotonicClock.now, secondsNumerator: interval.numerator, denominator: interval.denominator)
      do throws(DeviceError) {
        while true {
          let (deadline, skipped) = pace.next(now: MonotonicClock.now)
          if stop.wait(until: deadline) { return }
          sequence += skipped
          if isFirst || demand?.isWanted != false {
            // A file may name a higher rate than is asked for.
            let picture = try next(MonotonicClock.now, sequence)
            if delivered.admits(MonotonicClock.now) { deliver(picture) }
          }
          sequence += 1
          isFirst = false
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
