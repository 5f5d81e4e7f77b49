public import DeviceNames
public import Devices
internal import Frames
public import RTPReceiving
internal import Sound
internal import Synchronization
internal import Wire

/// Received sound → level and speaker.
public final class AudioPlayer: Sendable {
  public struct Counters: Sendable {
    /// RMS of the last 200 ms, dB below full scale; -100 before the first.
    public var levelDb: Double = -100
    public var packetsRefused: UInt64 = 0
    public var underruns = 0
    /// False while a gate (VOX) keeps the speaker silent.
    public var isOpen = true
  }

  /// Sound queued for the speaker, so that a packet arriving this much later than the one before leaves no gap.
  public static let stock: Duration = .milliseconds(20)

  private let ring = PlaybackRing(target: stock)
  private let output = OutputDelay()
  private let sound: ReceivedSound
  private let speaker: SharedSpeaker?
  private let pull: PlaybackPull
  private let part = Mutex<SharedSpeaker.Part?>(nil)
  private let ringing: Ringing
  private let speakerChanged: @Sendable (SpeakerSupervisor.State) -> Void

  /// `speakerChanged` is called on one of the speaker's threads.
  ///
  /// - Parameters:
  ///   - shared: the speaker of `device`, where others play as well; nil: one of its own.
  ///   - vox: only what is louder than this, dB below full scale, is played; nil: everything.
  public init(
    speaker device: SpeakerDevice?, shared: SharedSpeaker? = nil, vox: Double? = nil,
    speakerChanged: @escaping @Sendable (SpeakerSupervisor.State) -> Void
  ) {
    let (ring, output) = (ring, output)
    let ringing = Ringing(keepsAwake: device?.isHeard ?? false)
    self.ringing = ringing
    pull = { samples, heardAt in
      ring.read(into: &samples)
      output.note(waiting: ring.statistics.level, device: heardAt - MonotonicClock.now)
      ringing.apply(to: &samples)
    }
    speaker = device.flatMap { $0 == .off ? nil : shared ?? SharedSpeaker($0) }
    sound = ReceivedSound(ring: speaker == nil ? nil : ring, vox: vox)
    self.speakerChanged = speakerChanged
  }

  /// Call once.
  public func start() {
    sound.start()
    let new = speaker?.add(pull) { [sound, output, speakerChanged] state in
      if case .running = state {
        sound.setHeard(true)
      } else {
        sound.setHeard(false)
        output.forget()
      }
      speakerChanged(state)
    }
    part.withLock { $0 = new }
  }

  /// Joins the threads.
  public func stop() {
    sound.stop()
    let old = part.withLock { part in
      defer { part = nil }
      return part
    }
    if let old { speaker?.remove(old) }
  }

  /// Call in playout order, from any thread.
  public func play(_ audio: ReceivedAudio) {
    sound.play(audio)
  }

  /// Whether the child's sound is silenced; an alarm is heard all the same. From any thread.
  public func setMuted(_ isMuted: Bool) {
    ringing.set(isMuted: isMuted)
  }

  /// Rings, 0 (silent) to 1, over whatever is played. From any thread.
  public func ring(loudness: Double) {
    ringing.set(loudness: loudness)
  }

  /// Hears what arrives, whether or not it is played.
  public var ear: HearingEar { sound.ear }

  /// Delay from handing out sound to hearing it: the samples queued for the speaker plus the speaker's own delay. Nil
  /// while no speaker plays.
  public var outputDelay: Duration? { output.value }

  public var current: Counters {
    let counters = sound.current
    return Counters(
      levelDb: counters.levelDb, packetsRefused: counters.packetsRefused, underruns: ring.statistics.underruns,
      isOpen: counters.isOpen)
  }
}

/// What stands between the received sound and the speaker: muting, the alarm above it, and what keeps the speaker awake for both while
/// nothing comes, or nothing is let through.
private final class Ringing: Sendable {
  private struct State {
    var isMuted = false
    var loudness = 0.0
    var tone = AlarmTone()
    var silence = WakefulSilence()
  }

  private let keepsAwake: Bool
  private let state = Mutex(State())

  init(keepsAwake: Bool) {
    self.keepsAwake = keepsAwake
  }

  func set(isMuted: Bool) { state.withLock { $0.isMuted = isMuted } }
  func set(loudness: Double) { state.withLock { $0.loudness = loudness } }

  func apply(to samples: inout [Int16]) {
    state.withLock { state in
      if state.isMuted {
        for index in samples.indices { samples[index] = 0 }
      }
      state.tone.mix(into: &samples, loudness: state.loudness)
      if keepsAwake { state.silence.fill(&samples) }
    }
  }
}

/// Written by the speaker's thread, read by others.
private final class OutputDelay: Sendable {
  /// Nanoseconds; negative while unknown.
  private let smoothed = Atomic<Int64>(-1)
  /// 160 ms of blocks: the queue rises and falls with every packet.
  private static let smoothing: Int64 = 16

  var value: Duration? {
    let nanoseconds = smoothed.load(ordering: .relaxed)
    return nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
  }

  /// - Parameter samples: at 48 kHz.
  func note(waiting samples: Int, device: Duration) {
    let measured = Int64(samples) * 62_500 / 3 + max(0, device.nanoseconds)
    let old = smoothed.load(ordering: .relaxed)
    smoothed.store(old < 0 ? measured : old + (measured - old) / Self.smoothing, ordering: .relaxed)
  }

  func forget() {
    smoothed.store(-1, ordering: .relaxed)
  }
}
