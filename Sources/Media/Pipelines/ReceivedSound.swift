internal import Codecs
public import Devices
internal import Frames
internal import Linux
public import RTPReceiving
internal import Sound
internal import Synchronization

/// Received sound → Opus decoder → level and a ring for the speaker, on its own thread. For both ends: the room as the
/// parent hears it, and the parent as the child does.
public final class ReceivedSound: Sendable {
  public struct Counters: Sendable {
    /// RMS of the last 200 ms, dB below full scale; -100 before the first.
    public var levelDb: Double = -100
    /// Packets that were not valid Opus; concealed.
    public var packetsRefused: UInt64 = 0
    /// Whether the speaker is open; false only with a gate that is closed.
    public var isOpen = true
  }

  private let mailbox = Mailbox<ReceivedAudio>(capacity: 50)
  private let counters = Mutex(Counters())
  private let ring: PlaybackRing?
  private let thread = Mutex<WorkerThread?>(nil)
  private let isHeard: Atomic<Bool>

  /// Packets per wake-up while only the level is of interest: the 200 ms it is measured over.
  private static let unheardBatch = 10

  private let vox: Double?
  /// Hears what arrives, whether or not it is played.
  let ear = HearingEar()

  /// `ring` receives the sound; nil if only its level is of interest.
  ///
  /// - Parameter vox: only what is louder than this, dB below full scale, goes to the ring; nil: everything.
  public init(ring: PlaybackRing?, vox: Double? = nil) {
    self.ring = ring
    self.vox = vox
    isHeard = Atomic(ring != nil)
  }

  /// Whether a speaker currently plays the ring. If none does, the thread need not wake up fifty times a second.
  public func setHeard(_ isHeard: Bool) {
    self.isHeard.store(isHeard, ordering: .relaxed)
  }

  /// Call once.
  public func start() {
    thread.withLock { $0 = WorkerThread(name: "sound") { [self] in run() } }
  }

  /// Joins the thread. Later packets are dropped.
  public func stop() {
    mailbox.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  /// Call in playout order, from any thread; at most one second is queued.
  public func play(_ audio: ReceivedAudio) {
    mailbox.put(audio, wakingFor: isHeard.load(ordering: .relaxed) ? 1 : Self.unheardBatch)
  }

  public var current: Counters { counters.withLock { $0 } }

  private func run() {
    var decoder: OpusDecoder?
    var meter = LevelMeter()
    var last: Int16 = 0
    var pace = SpeakerPace()
    var gate = vox.map(VoxGate.init)
    while let audio = mailbox.take() {
      // Created with the first sound, because a child may never be talked to.
      if decoder == nil { decoder = try? OpusDecoder() }
      guard let decoder else { continue }
      var samples: [Int16]
      do {
        samples = try Self.decode(audio, decoder)
      } catch {
        counters.withLock { $0.packetsRefused += 1 }
        samples = (try? decoder.conceal(samples: Self.whole(audio.samples))) ?? []
      }
      if audio.isAfterDiscontinuity {
        for index in 0..<min(Self.seam, samples.count) {
          samples[index] = Crossfade.mix(last, samples[index], step: index, of: Self.seam)
        }
      }
      last = samples.last ?? 0
      ear.hear(samples)
      if let level = meter.add(samples) { counters.withLock { $0.levelDb = level.rms } }
      if gate != nil, let passed = gate?.pass(samples), let isOpen = gate?.isOpen {
        samples = passed
        counters.withLock { $0.isOpen = isOpen }
      }
      guard let ring else { continue }
      ring.write(isHeard.load(ordering: .relaxed) ? pace.follow(samples, ring: ring) : samples)
    }
  }

  /// Length of the crossfade from the last sample to the next sound after a discontinuity: 2.5 ms.
  private static let seam = 120

  private static func decode(_ audio: ReceivedAudio, _ decoder: OpusDecoder) throws(CodecError) -> [Int16] {
    switch audio.content {
    case .packet(let packet): try decoder.decode(packet)
    case .forwardErrorCorrection(let next): try decoder.decodeLost(before: next, samples: whole(audio.samples))
    case .concealment: try decoder.conceal(samples: whole(audio.samples))
    case .silence: [Int16](repeating: 0, count: max(0, min(audio.samples, 5760)))
    }
  }

  /// Concealment works in steps of 2.5 ms, up to 120 ms.
  private static func whole(_ samples: Int) -> Int {
    min(5760, max(120, samples / 120 * 120))
  }
}

/// Keeps the sound written to a ring in step with the speaker's clock.
private struct SpeakerPace {
  /// Created with the first sound that is heard.
  private var resampler: DriftResampler?
  private var drift = DriftRegulator()

  mutating func follow(_ samples: [Int16], ring: PlaybackRing) -> [Int16] {
    if resampler == nil { resampler = DriftResampler() }
    guard let resampler else { return samples }
    if let excess = ring.takeExcess() {
      // The ring reports it once a second.
      drift.note(excess: Int64(excess) * 62_500 / 3, elapsed: 1_000_000_000)
      resampler.setRate(drift.rate)
    }
    return resampler.process(samples)
  }
}
