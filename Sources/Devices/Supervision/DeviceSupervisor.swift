public import Frames
internal import Synchronization
internal import Wire

/// Keeps one device going: opens it, opens it again when it fails, and goes on trying while it is missing.
///
/// It works on a thread of its own. `stop` and `start` may follow each other, for a device that is wanted only at times.
public final class DeviceSupervisor<Info: Sendable, Element: Sendable>: Sendable {
  /// A supervisor tells `running` and `missing`.
  public typealias State = DeviceStatus<Info>

  /// Opens the device. `avoiding` names one that failed without delivering anything, to be tried after the others.
  public typealias Open =
    @Sendable (_ avoiding: Set<String>) throws(DeviceError) -> any MediaSource<Info, Element>

  private let name: String
  private let timing: SupervisorTiming
  private let demand: Demand?
  private let pulse: Pulse?
  private let open: Open
  private let thread = Mutex<SourceThread?>(nil)

  /// `name` shows in `top -H`. While `demand` says that nothing is wanted, a source may deliver nothing but its first
  /// element without counting as failed. `pulse` beats at least each `timing.longestRetry` while no call to the device
  /// hangs, whether it is there or missing.
  public init(
    name: String, timing: SupervisorTiming = SupervisorTiming(), demand: Demand? = nil, pulse: Pulse? = nil,
    open: @escaping Open
  ) {
    self.name = name
    self.timing = timing
    self.demand = demand
    self.pulse = pulse
    self.open = open
  }

  /// Begins to open and deliver. Does nothing if it is running.
  ///
  /// `stateChanged` is called on a thread of the supervisor's or the source's, never two at a time, and only for a real
  /// change: `running` before the first element is delivered. Neither closure may block or call `stop`.
  public func start(
    deliver: @escaping @Sendable (Element) -> Void, stateChanged: @escaping @Sendable (State) -> Void
  ) {
    thread.withLock { thread in
      guard thread == nil else { return }
      let new = SourceThread()
      let run = SupervisorRun(
        timing: timing, demand: demand, pulse: pulse, open: open, deliver: deliver, stateChanged: stateChanged)
      new.start(name: name) { run.run(until: $0) }
      thread = new
    }
  }

  /// Ends delivery and lets the device go; waits for that. No state is reported for it. Idempotent.
  public func stop() {
    thread.withLock { thread in
      thread?.stop()
      thread = nil
    }
  }
}

/// How patient a supervisor is.
public struct SupervisorTiming: Hashable, Sendable {
  /// Between the first tries; a device that just reset itself is back within this.
  public var firstRetry: Duration = .seconds(1)
  /// The waiting doubles up to this. Trying costs an open(2).
  public var longestRetry: Duration = .seconds(5)
  /// No first element after this is a failure; sensors take seconds to wake up.
  public var firstElement: Duration = .seconds(8)
  /// No further element after this is a failure. Longer than a source's own limit, which knows more.
  public var silence: Duration = .seconds(4)
  /// After a new device node shows up: udev gives it permissions and links in the meantime.
  public var settle: Duration = .milliseconds(300)

  public init() {}
}

/// A camera, a Y4M file or the test picture.
public typealias VideoSupervisor = DeviceSupervisor<VideoSourceInfo, VideoFrame>
/// A microphone, a WAV file or the test tone.
public typealias AudioSupervisor = DeviceSupervisor<AudioSourceInfo, AudioBlock>

extension DeviceSupervisor where Info == VideoSourceInfo, Element == VideoFrame {
  public convenience init(_ device: VideoDevice, request: VideoRequest, demand: Demand? = nil, pulse: Pulse? = nil) {
    self.init(name: "camera-watch", demand: demand, pulse: pulse) { (avoiding) throws(DeviceError) in
      try VideoSources.open(device, request: request, avoiding: avoiding, demand: demand)
    }
  }
}

extension DeviceSupervisor where Info == AudioSourceInfo, Element == AudioBlock {
  public convenience init(_ device: AudioDevice, pulse: Pulse? = nil) {
    self.init(name: "mic-watch", pulse: pulse) { (avoiding) throws(DeviceError) in
      try AudioSources.open(device, avoiding: avoiding)
    }
  }
}
