internal import Frames
internal import Synchronization
internal import Wire

/// A supervisor from `start` to `stop`: the body of its thread.
struct SupervisorRun<Info: Equatable & Sendable, Element: Sendable>: Sendable {
  let timing: SupervisorTiming
  let demand: Demand?
  let hold: Hold?
  let pulse: Pulse?
  let judge: StaleJudge<Element>
  let open: DeviceSupervisor<Info, Element>.Open
  let deliver: @Sendable (Element) -> Void
  let stateChanged: @Sendable (DeviceSupervisor<Info, Element>.State) -> Void
  let damaged: @Sendable (Damage) -> Void

  func run(until stop: StopSignal) {
    let hotPlug = HotPlugWatch()
    var reported: DeviceError?
    var backoff = Backoff(first: timing.firstRetry, longest: timing.longestRetry)
    var avoiding: Set<String> = []
    defer { pulse?.rest() }
    while !stop.isRaised {
      pulse?.beat()
      let turn = hold?.count
      if hold?.isActive == true {
        reported = nil
        _ = stop.wait(until: MonotonicClock.now + Self.heldPause)
        continue
      }
      let failure: DeviceError
      do throws(DeviceError) {
        let source = try open(avoiding)
        let outcome = watch(source, turn, until: stop)
        guard let error = outcome.failure else { continue }
        if outcome.hasDelivered {
          (reported, avoiding) = (nil, [])
          backoff.reset()
        } else {
          // Remembered until one delivers; once all are remembered, the order is the original one again.
          avoiding.insert(error.device)
        }
        failure = error
      } catch {
        failure = error
      }
      if failure.isNews(after: reported) {
        stateChanged(.missing(failure))
        reported = failure
      }
      if waitForRetry(backoff.nextDelay(), hotPlug, stop) { backoff.reset() }
    }
  }

  /// How soon a device that was held is opened again.
  private static var heldPause: Duration { .milliseconds(100) }

  /// Runs a source until it fails; nil when stopped or held.
  private func watch(
    _ source: any MediaSource<Info, Element>, _ turn: UInt64?, until stop: StopSignal
  ) -> (failure: DeviceError?, hasDelivered: Bool) {
    let progress = SourceProgress()
    var shown = source.info
    source.start(
      deliver: { [deliver, stateChanged, judge, info = shown] element in
        let fault = judge.fault(of: element)
        let isFirst = progress.count(fault)
        if isFirst { stateChanged(.running(info)) }
        if fault == nil || (progress.isFresh && !judge.isLeftOut) { deliver(element) }
      },
      failed: { progress.fail($0) })
    defer { source.stop() }
    var silence = SilenceWatch(first: timing.firstElement, then: timing.silence)
    var stale: Duration = .zero
    let slice = max(.milliseconds(1), min(.milliseconds(250), timing.silence / 8))
    var seen: UInt64 = 0
    while true {
      pulse?.beat()
      var poll = PollSet(reading: [progress.failed.descriptor])
      if stop.wait(with: &poll, timeout: slice) { return (nil, progress.isFresh) }
      if hold?.count != turn { return (nil, progress.isFresh) }
      if let failure = progress.failure { return (failure, progress.isFresh) }
      damaged(source.damage)
      let info = source.info
      if progress.isFresh, info != shown {
        shown = info
        stateChanged(.running(info))
      }
      if demand?.isWanted == false { judge.forget() }
      let fault = progress.fault
      stale = fault == nil ? .zero : stale + slice
      if let fault, stale >= timing.stale {
        return (
          DeviceError(
            device: source.deviceName, reason: fault,
            advice: fault == .digitalSilence ? SilenceWatch.gateAdvice : SilenceWatch.advice), progress.isFresh
        )
      }
      let delivered = progress.delivered
      if delivered != seen || (delivered > 0 && demand?.isWanted == false) {
        seen = delivered
        silence.heard()
        continue
      }
      do throws(DeviceError) {
        try silence.quiet(for: slice, device: source.deviceName)
      } catch {
        return (error, progress.isFresh)
      }
    }
  }

  /// True if a device appeared in the meantime.
  private func waitForRetry(_ retry: Duration, _ hotPlug: borrowing HotPlugWatch, _ stop: StopSignal) -> Bool {
    let deadline = MonotonicClock.now + retry
    while true {
      pulse?.beat()
      let left = deadline - MonotonicClock.now
      guard left > .zero else { return false }
      var poll = PollSet(reading: [hotPlug.descriptor])
      if stop.wait(with: &poll, timeout: left) { return false }
      if poll.isReady, hotPlug.drain() {
        _ = stop.wait(until: MonotonicClock.now + timing.settle)
        _ = hotPlug.drain()
        return true
      }
    }
  }
}

/// Progress of a running source; written by its thread, read by the supervisor's.
private final class SourceProgress: Sendable {
  /// Raised with the failure.
  let failed = StopSignal()
  private let elements = Atomic<UInt64>(0)
  private let hasBeenFresh = Atomic<Bool>(false)
  private let staleness = Mutex<DeviceError.Reason?>(nil)
  private let error = Mutex<DeviceError?>(nil)

  var delivered: UInt64 { elements.load(ordering: .relaxed) }
  var failure: DeviceError? { error.withLock { $0 } }

  /// Whether it has delivered a fresh element.
  var isFresh: Bool { hasBeenFresh.load(ordering: .relaxed) }
  /// What is wrong with the last element.
  var fault: DeviceError.Reason? { staleness.withLock { $0 } }

  /// True for the first fresh one.
  func count(_ fault: DeviceError.Reason?) -> Bool {
    elements.add(1, ordering: .relaxed)
    staleness.withLock { $0 = fault }
    return fault == nil && !hasBeenFresh.exchange(true, ordering: .relaxed)
  }

  func fail(_ reason: DeviceError) {
    error.withLock { $0 = $0 ?? reason }
    failed.raise()
  }
}

extension MediaSource {
  /// The device's name from `info`.
  fileprivate var deviceName: String {
    switch info {
    case let info as VideoSourceInfo: info.device
    case let info as AudioSourceInfo: info.device
    case let info as SpeakerInfo: info.device
    default: "device"
    }
  }
}

extension DeviceError {
  /// False if the message would read the same: the milliseconds of `silent` do not count.
  fileprivate func isNews(after other: DeviceError?) -> Bool {
    guard let other, device == other.device else { return true }
    if case .silent = reason, case .silent = other.reason { return false }
    return reason != other.reason
  }
}
