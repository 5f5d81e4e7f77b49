internal import DeviceNames
internal import Frames
internal import Linux
internal import Synchronization
internal import Wire

/// An ALSA capture device.
final class ALSAMicrophone: MediaSource {
  /// As opened; it changes when more is known of the device.
  private let current: Mutex<AudioSourceInfo>
  private let gain: MicrophoneGain
  /// The open PCM until the thread takes it or `stop` closes it.
  private let opened: Mutex<PCMCapture?>
  private let thread = SourceThread()

  private static let silenceLimit: Duration = .seconds(2)
  private static let slice: Duration = .milliseconds(250)
  /// Keeps the thread from spinning on a plug-in that polls as ready but has no samples.
  private static let pause: Duration = .milliseconds(5)

  var info: AudioSourceInfo { current.withLock { $0 } }

  init(pcm name: String, gain: MicrophoneGain) throws(DeviceError) {
    let pcm = try PCMCapture.open(name)
    self.gain = gain
    current = Mutex(
      AudioSourceInfo(
        device: pcm.name, name: pcm.title, sampleRate: AudioFormat.sampleRate, channels: pcm.channels))
    try pcm.start()
    opened = Mutex(pcm)
  }

  func start(
    deliver: @escaping @Sendable (AudioBlock) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "microphone", failed: failed) { (stop) throws(DeviceError) in
      try self.run(until: stop, deliver)
    }
  }

  func stop() {
    thread.stop()
    opened.withLock { $0 = nil }
  }

  private func run(until stop: StopSignal, _ deliver: (AudioBlock) -> Void) throws(DeviceError) {
    guard let pcm = opened.withLock({ $0.take() }) else { return }
    var assembly = BlockAssembly(pcm, gain: gain)
    var silence = SilenceWatch(first: Self.silenceLimit, then: Self.silenceLimit)
    var delay = RunQueueDelay()
    var descriptors = pcm.pollDescriptors()
    while !stop.wait(with: &descriptors, timeout: Self.slice) {
      let isQuiet = !descriptors.isReady
      pcm.settle(&descriptors)
      if try readAll(pcm, into: &assembly, &delay, until: stop, deliver) {
        silence.heard()
        continue
      }
      if !isQuiet { _ = stop.wait(until: MonotonicClock.now + Self.pause) }
      try silence.quiet(for: isQuiet ? Self.slice : Self.pause, device: info.device)
    }
  }

  /// True if any samples were read.
  private func readAll(
    _ pcm: borrowing PCMCapture, into assembly: inout BlockAssembly, _ delay: inout RunQueueDelay,
    until stop: StopSignal,
    _ deliver: (AudioBlock) -> Void
  ) throws(DeviceError) -> Bool {
    var wasThere = false
    while !stop.isRaised {
      switch try assembly.fill(from: pcm) {
      case .samples:
        wasThere = true
        // Not when all is read: a plug-in that waits for its samples always has more.
        try assembly.measure(late: delay.sinceLast(), now: MonotonicClock.now, device: info.device)
        describe(assembly)
        while let block = assembly.takeBlock(timeOfNextSample: pcm.timeOfNextSample()) { deliver(block) }
      case .nothing:
        return wasThere
      case .interrupted:
        assembly.interrupt()
        // What was missed by being late is lost already.
        _ = delay.sinceLast()
      }
    }
    return wasThere
  }

  private func describe(_ assembly: BlockAssembly) {
    current.withLock { info in
      guard info.measuredRate != assembly.measuredRate || info.wiring != assembly.wiring else { return }
      info.measuredRate = assembly.measuredRate
      info.wiring = assembly.wiring
    }
  }
}
