internal import DeviceNames
internal import Devices
internal import Frames
internal import Pipelines
internal import Synchronization

/// The parent's microphone while somebody talks; off otherwise.
final class Voice: Sendable {
  private let device: AudioDevice
  private let say: @Sendable (EncodedAudioPacket) -> Void
  private let microphoneMissing: @Sendable (DeviceError) -> Void
  private let microphone = Mutex<AudioPipeline?>(nil)

  /// - Parameters:
  ///   - say: called on the microphone's thread.
  ///   - microphoneMissing: likewise, when it cannot be opened; it is tried again, and used when it is plugged in.
  init(
    _ device: AudioDevice, say: @escaping @Sendable (EncodedAudioPacket) -> Void,
    microphoneMissing: @escaping @Sendable (DeviceError) -> Void
  ) {
    self.device = device
    self.say = say
    self.microphoneMissing = microphoneMissing
  }

  func start() {
    microphone.withLock { microphone in
      guard microphone == nil else { return }
      let new = AudioPipeline(device: device, deliver: say) { [microphoneMissing] state in
        if case .missing(let error) = state { microphoneMissing(error) }
      }
      new.setDemand(true)
      new.start()
      microphone = new
    }
  }

  /// Joins the microphone's thread.
  func stop() {
    microphone.withLock { microphone in
      defer { microphone = nil }
      return microphone
    }?.stop()
  }
}
