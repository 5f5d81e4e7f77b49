public import Devices
public import RTPReceiving

/// Received sound → level and speaker.
public final class AudioPlayer: Sendable {
  public struct Counters: Sendable {
    /// RMS of the last 200 ms, dB below full scale; -100 for silence.
    public var levelDb: Double = -100
    public var packetsRefused: UInt64 = 0
    public var underruns = 0
  }

  /// What waits for the speaker, so that nothing is missed by a packet that comes so much later than the one before.
  public static let stock: Duration = .milliseconds(20)

  private let ring = PlaybackRing(target: stock)
  private let sound: ReceivedSound
  private let speaker: SpeakerSupervisor?
  private let speakerChanged: @Sendable (SpeakerSupervisor.State) -> Void

  /// `speakerChanged` is called on a thread of the speaker's.
  public init(speaker device: SpeakerDevice?, speakerChanged: @escaping @Sendable (SpeakerSupervisor.State) -> Void) {
    let ring = ring
    speaker = device.flatMap { $0 == .off ? nil : SpeakerSupervisor($0, pull: ring.pull) }
    sound = ReceivedSound(ring: speaker == nil ? nil : ring)
    self.speakerChanged = speakerChanged
  }

  /// Once.
  public func start() {
    sound.start()
    speaker?.start(deliver: { _ in }) { [sound, speakerChanged] state in
      if case .running = state { sound.setHeard(true) } else { sound.setHeard(false) }
      speakerChanged(state)
    }
  }

  /// Waits for the threads.
  public func stop() {
    sound.stop()
    speaker?.stop()
  }

  /// In the order of playing, from any thread.
  public func play(_ audio: ReceivedAudio) {
    sound.play(audio)
  }

  public var current: Counters {
    let counters = sound.current
    return Counters(
      levelDb: counters.levelDb, packetsRefused: counters.packetsRefused, underruns: ring.statistics.underruns)
  }
}
