internal import Codecs
public import DeviceNames
public import Devices
public import Frames
public import Sound
internal import Synchronization

/// Microphone thread → echo control → level → Opus, encoded once for all listeners. For both ends: the sound of the
/// child's room, and the parent's voice.
public final class AudioPipeline: Sendable {
  public struct Counters: Sendable {
    public var captured: UInt64 = 0
    public var encoded: UInt64 = 0
    public var encodedBytes: UInt64 = 0
    /// RMS of the last 200 ms, dB below full scale, with the gain: as it is sent.
    public var levelDb: Double = -100
  }

  public typealias MicrophoneState = DeviceStatus<AudioSourceInfo>

  private struct Shared: Sendable {
    var microphone: MicrophoneState
    var counters = Counters()
  }

  /// Used only by the microphone's thread, one source at a time.
  private final class Worker: @unchecked Sendable {
    var encoder: OpusEncoder?
    var narrow: NarrowSound?
    /// Continuous across sources.
    var clock = MediaClock()
    /// The encoder's current setting.
    var expectedLossPercent = OpusEncoder.lossyPathPercent
    var meter = LevelMeter()
  }

  public let device: AudioDevice
  /// A microphone that delivers nothing but zeros is taken for a quiet room.
  private let mayBeSilent: Bool
  private let gain: MicrophoneGain
  /// The pulse of the loop that reads the microphone or keeps looking for one.
  public let pulse = Pulse()
  private let echo: EchoControl?
  /// Hears what is sent.
  public let ear = HearingEar()
  private let shared: Mutex<Shared>
  private let demand = Demand()
  private let narrowDemand = Demand()
  private let taps = Mutex<[Mailbox<AudioBlock>]>([])
  private let expectedLossPercent = Atomic(OpusEncoder.lossyPathPercent)
  private let worker = Worker()
  private let deliver: @Sendable (EncodedAudioPacket) -> Void
  private let levelMeasured: @Sendable () -> Void
  private let microphoneChanged: @Sendable (MicrophoneState) -> Void
  private let supervisor = Mutex<AudioSupervisor?>(nil)

  /// The closures are called on the microphone's threads. `echo` knows what a speaker in the same room is playing.
  ///
  /// - Parameter levelMeasured: called for a new level: five times a second, just before that moment's packet, and
  ///   when the microphone is lost.
  public init(
    device: AudioDevice, gain: MicrophoneGain = .none, mayBeSilent: Bool = false, echo: EchoControl? = nil,
    deliver: @escaping @Sendable (EncodedAudioPacket) -> Void,
    levelMeasured: @escaping @Sendable () -> Void = {},
    microphoneChanged: @escaping @Sendable (MicrophoneState) -> Void
  ) {
    self.device = device
    self.mayBeSilent = mayBeSilent
    self.gain = gain
    self.echo = echo
    self.deliver = deliver
    self.levelMeasured = levelMeasured
    self.microphoneChanged = microphoneChanged
    shared = Mutex(Shared(microphone: device == .off ? .off : .opening))
  }

  public func start() {
    guard device != .off else { return }
    let new = AudioSupervisor(device, gain: gain, mayBeSilent: mayBeSilent, pulse: pulse)
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

  public var isWanted: Bool { demand.isWanted }

  /// Whether anyone is listening; otherwise only the level is measured.
  public func setDemand(_ isWanted: Bool) {
    demand.isWanted = isWanted
  }

  /// Whether anyone listens over a narrow path: packets of that rendition come beside the others.
  public func setNarrowDemand(_ isWanted: Bool) {
    narrowDemand.isWanted = isWanted
  }

  /// Get each block as it is sent.
  func setTaps(_ taps: [Mailbox<AudioBlock>]) {
    self.taps.withLock { $0 = taps }
  }

  /// The packet loss that FEC should withstand, from the next packet on; 0 turns it off. Until this is called it is
  /// `OpusEncoder.lossyPathPercent`.
  public func setExpectedLoss(percent: Int) {
    expectedLossPercent.store(percent, ordering: .relaxed)
  }

  public var counters: Counters { shared.withLock { $0.counters } }
  public var microphone: MicrophoneState { shared.withLock { $0.microphone } }

  private func captured(_ recorded: AudioBlock) {
    var block = recorded
    block.samplePosition = worker.clock.position(of: block)
    echo?.clean(&block)
    ear.hear(block.samples)
    for tap in taps.withLock({ $0 }) { tap.put(block) }
    let level = worker.meter.add(block.samples)
    let packets = demand.isWanted ? encode(block) : []
    shared.withLock { shared in
      shared.counters.captured += 1
      if let level { shared.counters.levelDb = level.rms }
      for packet in packets where packet.rendition == .full {
        shared.counters.encoded += 1
        shared.counters.encodedBytes += UInt64(packet.data.count)
      }
    }
    if level != nil { levelMeasured() }
    packets.forEach(deliver)
  }

  private func encode(_ block: AudioBlock) -> [EncodedAudioPacket] {
    if worker.encoder == nil { worker.encoder = try? OpusEncoder() }
    guard let encoder = worker.encoder else { return [] }
    let expected = expectedLossPercent.load(ordering: .relaxed)
    if expected != worker.expectedLossPercent {
      worker.expectedLossPercent = expected
      try? encoder.setExpectedLoss(percent: expected)
    }
    guard var packet = try? encoder.encode(block) else { return [] }
    if !narrowDemand.isWanted {
      worker.narrow = nil
    } else if worker.narrow == nil {
      worker.narrow = try? NarrowSound()
    }
    guard let narrow = worker.narrow else { return [packet] }
    narrow.expectedLossPercent = expected
    packet.isJunction = narrow.beginsPacket(with: block)
    return [packet] + [try? narrow.add(block)].compactMap(\.self)
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
