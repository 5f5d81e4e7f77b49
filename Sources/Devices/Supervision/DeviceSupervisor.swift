public import DeviceNames
public import Frames
internal import Synchronization

/// Keeps one device running: opens it, reopens it when it fails, and keeps trying while it is missing.
///
/// Runs on its own thread. `start` may follow `stop`, for a device that is not always wanted.
public final class DeviceSupervisor<Info: Equatable & Sendable, Element: Sendable>: Sendable {
  /// A supervisor reports `running` and `missing`.
  public typealias State = DeviceStatus<Info>

  /// Opens the device. `avoiding` names devices that failed without delivering anything, to be tried last.
  public typealias Open =
    @Sendable (_ avoiding: Set<String>) throws(DeviceError) -> any MediaSource<Info, Element>

  private let name: String
  private let timing: SupervisorTiming
  private let demand: Demand?
  private let hold: Hold?
  private let pulse: Pulse?
  private let staleness: Staleness<Element>?
  private let open: Open
  private let thread = Mutex<SourceThread?>(nil)
  private let latestDamage = Mutex(Damage())

  /// Of the source that is open, or was open last.
  public var damage: Damage { latestDamage.withLock { $0 } }

  /// `name` is the thread's name in `top -H`. While `demand` is off, a source may deliver only its first element
  /// without counting as failed. `pulse` beats at least every `timing.longestRetry`, whether the device is there or
  /// missing, unless a call to it hangs. With `staleness` a device that only repeats itself fails; it does not run before its
  /// first fresh element, which is then the first that is delivered. While `hold` lasts the device is closed, without a report.
  public init(
    name: String, timing: SupervisorTiming = SupervisorTiming(), demand: Demand? = nil, hold: Hold? = nil,
    pulse: Pulse? = nil, staleness: Staleness<Element>? = nil, open: @escaping Open
  ) {
    self.name = name
    self.timing = timing
    self.demand = demand
    self.hold = hold
    self.pulse = pulse
    self.staleness = staleness
    self.open = open
  }

  /// Starts opening and delivering. Does nothing if it is running.
  ///
  /// `stateChanged` is called on the supervisor's or the source's thread, never concurrently, and only on a real
  /// change: `running` before the first element is delivered, and again when more is known of the device. Neither closure may block or call `stop`.
  public func start(
    deliver: @escaping @Sendable (Element) -> Void, stateChanged: @escaping @Sendable (State) -> Void
  ) {
    thread.withLock { thread in
      guard thread == nil else { return }
      let new = SourceThread()
      let run = SupervisorRun(
        timing: timing, demand: demand, hold: hold, pulse: pulse, judge: StaleJudge(staleness), open: open,
        deliver: deliver,
        stateChanged: stateChanged, damaged: { [weak self] damage in self?.latestDamage.withLock { $0 = damage } })
      new.start(name: name) { run.run(until: $0) }
      thread = new
    }
  }

  /// Ends delivery and closes the device; waits until that is done. Reports no state. Idempotent.
  public func stop() {
    thread.withLock { thread in
      thread?.stop()
      thread = nil
    }
  }
}

/// A supervisor's intervals and timeouts.
public struct SupervisorTiming: Hashable, Sendable {
  /// Delay before the first retry; a device that has just reset itself is back within this.
  public var firstRetry: Duration = .seconds(1)
  /// The delay doubles up to this. A retry costs an open(2).
  public var longestRetry: Duration = .seconds(5)
  /// No first element within this time is a failure; sensors take seconds to wake up.
  public var firstElement: Duration = .seconds(8)
  /// No further element within this time is a failure. Longer than a source's own limit, which knows more.
  public var silence: Duration = .seconds(4)
  /// A device that has only repeated itself for this long fails. Parents ring after 3.5 s without anything new.
  public var stale: Duration = .seconds(3)
  /// Delay after a new device node appears, for udev to set its permissions and links.
  public var settle: Duration = .milliseconds(300)

  public init() {}
}

/// A camera, a Y4M file or the test picture.
public typealias VideoSupervisor = DeviceSupervisor<VideoSourceInfo, VideoFrame>
/// A microphone, a WAV file or the test tone.
public typealias AudioSupervisor = DeviceSupervisor<AudioSourceInfo, AudioBlock>

extension DeviceSupervisor where Info == VideoSourceInfo, Element == VideoFrame {
  public convenience init(
    _ device: VideoDevice, request: VideoRequest, demand: Demand? = nil, hold: Hold? = nil,
    slowShutter: Demand? = nil, pulse: Pulse? = nil
  ) {
    let stableName = StableName()
    let staleness: Staleness<VideoFrame>? = device.kind.traits.isSensor ? .pictures : nil
    self.init(name: "camera-watch", demand: demand, hold: hold, pulse: pulse, staleness: staleness) {
      (avoiding) throws(DeviceError) in
      try VideoSources.open(
        CameraOpening(
          device: device, request: request, avoiding: avoiding, demand: demand, slowShutter: slowShutter,
          stableName: stableName))
    }
  }
}

extension DeviceSupervisor where Info == AudioSourceInfo, Element == AudioBlock {
  /// - Parameter mayBeSilent: a microphone that delivers nothing but zeros is none that has failed.
  public convenience init(
    _ device: AudioDevice, gain: MicrophoneGain = .none, mayBeSilent: Bool = false, pulse: Pulse? = nil
  ) {
    let isSensor =
      switch device {
      case .auto, .pcm: true
      case .off, .file, .test: false
      }
    let stableName = StableName()
    self.init(name: "mic-watch", pulse: pulse, staleness: isSensor && !mayBeSilent ? .sounds : nil) {
      (avoiding) throws(DeviceError) in
      try AudioSources.open(device, gain: gain, avoiding: avoiding, stableName: stableName)
    }
  }
}
