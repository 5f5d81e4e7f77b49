internal import Frames
internal import Glibc
internal import Synchronization
internal import Wire

/// An ALSA playback device.
final class ALSASpeaker: MediaSource {
  let info: SpeakerInfo
  /// The open PCM until the thread takes it or `stop` closes it.
  private let opened: Mutex<PCMPlayback?>
  private let pull: PlaybackPull
  private let thread = SourceThread()

  init(pcm name: String, pull: @escaping PlaybackPull) throws(DeviceError) {
    let pcm = try PCMPlayback.open(name)
    info = SpeakerInfo(
      device: pcm.name, name: pcm.title, channels: pcm.channels,
      latency: .milliseconds(pcm.target * 1000 / AudioFormat.sampleRate))
    opened = Mutex(pcm)
    self.pull = pull
  }

  func start(
    deliver: @escaping @Sendable (PlaybackProgress) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "speaker", failed: failed) { (stop) throws(DeviceError) in
      RealTime.request()
      try self.run(until: stop, deliver)
    }
  }

  func stop() {
    thread.stop()
    opened.withLock { $0 = nil }
  }

  private func run(until stop: StopSignal, _ deliver: (PlaybackProgress) -> Void) throws(DeviceError) {
    guard let pcm = opened.withLock({ $0.take() }) else { return }
    var loop = PlaybackLoop()
    var next = MonotonicClock.now
    while !stop.wait(until: next) {
      let visit = try loop.visit(pcm, now: MonotonicClock.now, pull: pull)
      if let report = visit.report { deliver(report) }
      next = visit.next
    }
  }
}

/// Real-time scheduling for the calling thread, where the system permits it (RLIMIT_RTPRIO; `LimitRTPRIO=` of
/// systemd.exec(5)). Playback works without it, until the machine is very busy.
enum RealTime {
  /// Above ordinary threads, below the kernel's IRQ threads (50).
  private static let priority: Int32 = 10

  static func request() {
    var parameters = sched_param()
    parameters.sched_priority = priority
    pthread_setschedparam(pthread_self(), SCHED_RR, &parameters)
  }
}
