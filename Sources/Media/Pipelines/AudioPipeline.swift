internal import Codecs
public import Devices
public import Frames
public import Sound
internal import Synchronization

/// Microphone thread → echo control → level → Opus, once for all listeners. For either end: what the child's room sounds
/// like, and what the parent says.
public final class AudioPipeline: Sendable {
  public struct Counters: Sendable {
    public var captured: UInt64 = 0
    public var encoded: UInt64 = 0
    public var encodedBytes: UInt64 = 0
    /// RMS of the last 200 ms, dB below full scale.
    public var levelDb: Double = -100
  }

  public typealias MicrophoneState = DeviceStatus<AudioSourceInfo>

  private struct Shared: Sendable {
    var microphone: MicrophoneState
    var counters = Counters()
  }

  /// Touched by the microphone's thread alone, one source at a time.
  private final class Worker: @unchecked Sendable {
    var encoder: OpusEncoder?
    /// Across all of them.
    var clock = MediaClock()
    /// What the encoder was told.
    var isLossExpected = true
    var meter = LevelMeter()
  }

  public let device: AudioDevice
  /// Of the loop that takes sound from the microphone, or goes on looking for one.
  public let pulse = Pulse()
  private let echo: EchoControl?
  private let shared: Mutex<Shared>
  private let demand = Demand()
  private let isLossExpected = Atomic(true)
  private let worker = Worker()
  private let deliver: @Sendable (EncodedAudioPacket) -> Void
  private let levelMeasured: @Sendable () -> Void
  private let microphoneChanged: @Sendable (MicrophoneState) -> Void
  private let supervisor = Mutex<AudioSupervisor?>(nil)

  /// The closures are called on the microphone's threads. `echo` knows what a speaker in the same room plays.
  ///
  /// - Parameter levelMeasured: there is a new level: five times a second, just before the packet of that moment, and
  ///   when the microphone is lost.
  public init(
    device: AudioDevice, echo: EchoControl? = nil, deliver: @escaping @Sendable (EncodedAudioPacket) -> Void,
    levelMeasured: @escaping @Sendable () -> Void = {},
    microphoneChanged: @escaping @Sendable (MicrophoneState) -> Void
  ) {
    self.device = device
    self.echo = echo
    self.deliver = deliver
    self.levelMeasured = levelMeasured
    self.microphoneChanged = microphoneChanged
    shared = Mutex(Shared(microphone: device == .off ? .off : .opening))
  }

  public func start() {
    guard device != .off else { return }
    let new = AudioSupervisor(device, pulse: pulse)
    supervisor.withLock { $0 = new }
    new.start(
      deliver: { [weak self] block in self?.captured(block) },
      stateChanged: { [weak self] state in self?.supervisorChanged(state) })
  }

  public func stop() {
    supervisor.withLock { supervisor in
      defer { supervisor = nil }
      return supervisor
    }?.stop()
  }

  /// Whether somebody listens; otherwise only the level is taken.
  public func setDemand(_ isWanted: Bool) {
    demand.isWanted = isWanted
  }

  /// Whether packets carry error correction for the ones before them, from the next packet on. They do until this is
  /// called.
  public func setLossExpected(_ isExpected: Bool) {
    isLossExpected.store(isExpected, ordering: .relaxed)
  }

  public var counters: Counters { shared.withLock { $0.counters } }
  public var microphone: MicrophoneState { shared.withLock { $0.microphone } }

  private func captured(_ recorded: AudioBlock) {
    var block = recorded
    block.samplePosition = worker.clock.position(of: block)
    echo?.clean(&block)
    let level = worker.meter.add(block.samples)
    var packet: EncodedAudioPacket?
    if demand.isWanted { packet = encode(block) }
    shared.withLock { shared in
      shared.counters.captured += 1
      if let level { shared.counters.levelDb = level.rms }
      if let packet {
        shared.counters.encoded += 1
        shared.counters.encodedBytes += UInt64(packet.data.count)
      }
    }
    if level != nil { levelMeasured() }
    if let packet { deliver(packet) }
  }

  private func encode(_ block: AudioBlock) -> EncodedAudioPacket? {
    if worker.encoder == nil { worker.encoder = try? OpusEncoder() }
    guard let encoder = worker.encoder else { return nil }
    let isExpected = isLossExpected.load(ordering: .relaxed)
    if isExpected != worker.isLossExpected {
      worker.isLossExpected = isExpected
      try? encoder.setExpectedLoss(percent: isExpected ? OpusEncoder.lossyPathPercent : 0)
    }
    return try? encoder.encode(block)
  }

  private func supervisorChanged(_ microphone: MicrophoneState) {
    shared.withLock { shared in
      shared.microphone = microphone
      if case .missing = microphone { shared.counters.levelDb = -100 }
    }
    if case .missing = microphone { levelMeasured() }
    microphoneChanged(microphone)
  }
}
