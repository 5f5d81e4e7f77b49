internal import Codecs
internal import Devices
internal import Frames
internal import Sound
internal import Synchronization

/// Microphone thread → level → Opus, once for all listeners.
final class AudioPipeline: Sendable {
  struct Counters: Sendable {
    var captured: UInt64 = 0
    var encoded: UInt64 = 0
    var encodedBytes: UInt64 = 0
    /// RMS of the last 200 ms, dB below full scale.
    var levelDb: Double = -100
  }

  enum MicrophoneState: Sendable {
    case off
    case opening
    case running(AudioSourceInfo)
    case missing(DeviceError)
  }

  private struct Shared: Sendable {
    var microphone: MicrophoneState
    var counters = Counters()
  }

  /// Touched by the microphone's thread alone, one source at a time.
  private final class Worker: @unchecked Sendable {
    var encoder: OpusEncoder?
    var meter = LevelMeter()
  }

  let device: AudioDevice
  private let shared: Mutex<Shared>
  private let demand = Demand()
  private let worker = Worker()
  private let deliver: @Sendable (EncodedAudioPacket) -> Void
  private let microphoneChanged: @Sendable (MicrophoneState) -> Void
  private let supervisor = Mutex<AudioSupervisor?>(nil)

  /// Both closures are called on the microphone's threads.
  init(
    device: AudioDevice, deliver: @escaping @Sendable (EncodedAudioPacket) -> Void,
    microphoneChanged: @escaping @Sendable (MicrophoneState) -> Void
  ) {
    self.device = device
    self.deliver = deliver
    self.microphoneChanged = microphoneChanged
    shared = Mutex(Shared(microphone: device == .off ? .off : .opening))
  }

  func start() {
    guard device != .off else { return }
    let new = AudioSupervisor(device)
    supervisor.withLock { $0 = new }
    new.start(
      deliver: { [weak self] block in self?.captured(block) },
      stateChanged: { [weak self] state in self?.supervisorChanged(state) })
  }

  func stop() {
    supervisor.withLock { supervisor in
      defer { supervisor = nil }
      return supervisor
    }?.stop()
  }

  /// Whether somebody listens; otherwise only the level is taken.
  func setDemand(_ isWanted: Bool) {
    demand.isWanted = isWanted
  }

  var counters: Counters { shared.withLock { $0.counters } }
  var microphone: MicrophoneState { shared.withLock { $0.microphone } }

  private func captured(_ block: AudioBlock) {
    worker.meter.add(block.samples)
    let level = worker.meter.level.rms
    var packet: EncodedAudioPacket?
    if demand.isWanted {
      if worker.encoder == nil { worker.encoder = try? OpusEncoder() }
      packet = try? worker.encoder?.encode(block)
    }
    shared.withLock { shared in
      shared.counters.captured += 1
      shared.counters.levelDb = level
      if let packet {
        shared.counters.encoded += 1
        shared.counters.encodedBytes += UInt64(packet.data.count)
      }
    }
    if let packet { deliver(packet) }
  }

  private func supervisorChanged(_ state: AudioSupervisor.State) {
    let microphone: MicrophoneState
    switch state {
    case .running(let info): microphone = .running(info)
    case .missing(let error): microphone = .missing(error)
    }
    shared.withLock { $0.microphone = microphone }
    microphoneChanged(microphone)
  }
}
