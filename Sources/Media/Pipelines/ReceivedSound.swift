internal import Codecs
public import Devices
internal import Frames
public import RTPReceiving
internal import Sound
internal import Synchronization

/// Received sound → Opus decoder → level and a ring for the speaker, on a thread of its own. For either end: what the
/// parent hears of the room, and what the child hears of the parent.
public final class ReceivedSound: Sendable {
  public struct Counters: Sendable {
    /// RMS of the last 200 ms, dB below full scale; -100 before the first.
    public var levelDb: Double = -100
    /// Packets that were no Opus; concealed.
    public var packetsRefused: UInt64 = 0
  }

  private let mailbox = Mailbox<ReceivedAudio>(capacity: 50)
  private let counters = Mutex(Counters())
  private let ring: PlaybackRing?
  private let thread = Mutex<WorkerThread?>(nil)
  private let isHeard: Atomic<Bool>

  /// While only the level is of interest: the 200 ms that it is taken over.
  private static let unheardBatch = 10

  /// `ring` takes the sound; nil if only its level is of interest.
  public init(ring: PlaybackRing?) {
    self.ring = ring
    isHeard = Atomic(ring != nil)
  }

  /// Whether a speaker plays the ring now. For nobody the thread need not wake up fifty times a second.
  public func setHeard(_ isHeard: Bool) {
    self.isHeard.store(isHeard, ordering: .relaxed)
  }

  /// Once.
  public func start() {
    thread.withLock { $0 = WorkerThread(name: "sound") { [self] in run() } }
  }

  /// Waits for the thread. What comes afterwards is let go.
  public func stop() {
    mailbox.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  /// In the order of playing, from any thread; a second of it waits at most.
  public func play(_ audio: ReceivedAudio) {
    mailbox.put(audio, wakingFor: isHeard.load(ordering: .relaxed) ? 1 : Self.unheardBatch)
  }

  public var current: Counters { counters.withLock { $0 } }

  private func run() {
    var decoder: OpusDecoder?
    var meter = LevelMeter()
    var last: Int16 = 0
    var pace = SpeakerPace()
    while let audio = mailbox.take() {
      // Made with the first sound, because a child may never be talked to.
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
      if let level = meter.add(samples) { counters.withLock { $0.levelDb = level.rms } }
      guard let ring else { continue }
      ring.write(isHeard.load(ordering: .relaxed) ? pace.follow(samples, ring: ring) : samples)
    }
  }

  /// Where time was dropped or put in, the last sample gives way to the next sound over this many: 2.5 ms.
  private static let seam = 120

  private static func decode(_ audio: ReceivedAudio, _ decoder: OpusDecoder) throws(CodecError) -> [Int16] {
    switch audio.content {
    case .packet(let packet): try decoder.decode(packet)
    case .forwardErrorCorrection(let next): try decoder.decodeLost(before: next, samples: whole(audio.samples))
    case .concealment: try decoder.conceal(samples: whole(audio.samples))
    case .silence: [Int16](repeating: 0, count: max(0, min(audio.samples, 5760)))
    }
  }

  /// Concealment goes in steps of 2.5 ms, up to 120 ms.
  private static func whole(_ samples: Int) -> Int {
    min(5760, max(120, samples / 120 * 120))
  }
}

/// Keeps what is written into a ring in step with the speaker that reads it.
private struct SpeakerPace {
  /// Made with the first sound that somebody hears.
  private var resampler: DriftResampler?
  private var drift = DriftRegulator()

  mutating func follow(_ samples: [Int16], ring: PlaybackRing) -> [Int16] {
    if resampler == nil { resampler = DriftResampler() }
    guard let resampler else { return samples }
    if let excess = ring.takeExcess() {
      // The ring tells it once a second.
      drift.note(excess: Int64(excess) * 62_500 / 3, elapsed: 1_000_000_000)
      resampler.setRate(drift.rate)
    }
    return resampler.process(samples)
  }
}
