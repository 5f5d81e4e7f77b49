internal import Frames
internal import Synchronization
internal import Wire

/// An ALSA capture device.
final class ALSAMicrophone: MediaSource {
  let info: AudioSourceInfo
  /// The open PCM until the thread takes it or `stop` closes it.
  private let opened: Mutex<PCMCapture?>
  private let thread = SourceThread()

  private static let silenceLimit: Duration = .seconds(2)
  private static let slice: Duration = .milliseconds(250)
  /// Keeps the thread from spinning on a plug-in that polls as ready but has no samples.
  private static let pause: Duration = .milliseconds(5)

  init(pcm name: String) throws(DeviceError) {
    let pcm = try PCMCapture.open(name)
    info = AudioSourceInfo(device: pcm.name, name: pcm.title, sampleRate: AudioFormat.sampleRate, channels: 1)
    try pcm.start()
    opened = Mutex(pcm)
  }

  func start(
    deliver: @escaping @Sendable (AudioBlock) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "microphone") { stop in
      do throws(DeviceError) {
        try self.run(until: stop, deliver)
      } catch {
        failed(error)
      }
    }
  }

  func stop() {
    thread.stop()
    opened.withLock { $0 = nil }
  }

  private func run(until stop: StopSignal, _ deliver: (AudioBlock) -> Void) throws(DeviceError) {
    guard let pcm = opened.withLock({ $0.take() }) else { return }
    var assembly = BlockAssembly()
    var silence = SilenceWatch(first: Self.silenceLimit, then: Self.silenceLimit)
    var descriptors = pcm.pollDescriptors()
    while !stop.wait(with: &descriptors, timeout: Self.slice) {
      let isQuiet = !descriptors.isReady
      pcm.settle(&descriptors)
      if try readAll(pcm, into: &assembly, until: stop, deliver) {
        silence.heard()
        continue
      }
      if !isQuiet { _ = stop.wait(until: MonotonicClock.now + Self.pause) }
      try silence.quiet(for: isQuiet ? Self.slice : Self.pause, device: info.device)
    }
  }

  /// True if any samples were read.
  private func readAll(
    _ pcm: borrowing PCMCapture, into assembly: inout BlockAssembly, until stop: StopSignal,
    _ deliver: (AudioBlock) -> Void
  ) throws(DeviceError) -> Bool {
    var wasThere = false
    while !stop.isRaised {
      switch try assembly.fill(from: pcm) {
      case .samples:
        wasThere = true
        if let block = assembly.takeBlock(timeOfNextSample: pcm.timeOfNextSample()) { deliver(block) }
      case .nothing:
        return wasThere
      case .interrupted:
        assembly.interrupt()
      }
    }
    return wasThere
  }
}

/// Collects the card's samples, read in portions of any size, into blocks of 20 ms.
struct BlockAssembly {
  private var samples = [Int16](repeating: 0, count: AudioFormat.samplesPerBlock)
  private var count = 0
  private var clock = CaptureClock()
  private var isAfterGap = false

  mutating func fill(from pcm: borrowing PCMCapture) throws(DeviceError) -> PCMCapture.Outcome {
    let start = count
    var outcome = PCMCapture.Outcome.nothing
    var failure: DeviceError?
    samples.withUnsafeMutableBufferPointer { buffer in
      do throws(DeviceError) {
        outcome = try pcm.read(into: UnsafeMutableBufferPointer(rebasing: buffer[start...]))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    if case .samples(let read) = outcome { count += read }
    return outcome
  }

  /// Discards a half-filled block before a gap; its samples count as lost with the gap.
  mutating func interrupt() {
    count = 0
    isAfterGap = true
  }

  /// The block if it is full. `timeOfNextSample` is the capture time of the sample after it.
  mutating func takeBlock(timeOfNextSample: @autoclosure () -> Instant) -> AudioBlock? {
    guard count == AudioFormat.samplesPerBlock else { return nil }
    let placed = clock.place(measured: timeOfNextSample() - AudioFormat.blockDuration, afterGap: isAfterGap)
    isAfterGap = false
    count = 0
    return AudioBlock(
      samples: samples, captureTime: placed.captureTime, samplePosition: placed.samplePosition)
  }
}
