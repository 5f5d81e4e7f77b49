internal import Codecs
internal import Devices
internal import Frames
internal import RTPReceiving
internal import Sound
internal import Synchronization

/// Received sound → Opus decoder → level and speaker, on a thread of its own.
final class AudioPlayer: Sendable {
  struct Counters: Sendable {
    /// RMS of the last 200 ms, dB below full scale; -100 for silence.
    var levelDb: Double = -100
    var packetsRefused: UInt64 = 0
    var underruns = 0
  }

  private let mailbox = Mailbox<ReceivedAudio>(capacity: 50)
  private let counters = Mutex(Counters())
  private let ring = PlaybackRing()
  private let speaker: SpeakerSupervisor?
  private let speakerChanged: @Sendable (SpeakerSupervisor.State) -> Void
  private let thread = Mutex<WorkerThread?>(nil)

  /// `speakerChanged` is called on a thread of the speaker's.
  init(speaker device: SpeakerDevice?, speakerChanged: @escaping @Sendable (SpeakerSupervisor.State) -> Void) {
    let ring = ring
    speaker = device.flatMap { $0 == .off ? nil : SpeakerSupervisor($0, pull: ring.pull) }
    self.speakerChanged = speakerChanged
  }

  func start() {
    thread.withLock { $0 = WorkerThread(name: "sound") { [self] in run() } }
    speaker?.start(deliver: { _ in }, stateChanged: speakerChanged)
  }

  func stop() {
    mailbox.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
    speaker?.stop()
  }

  func play(_ audio: ReceivedAudio) {
    mailbox.put(audio)
  }

  var current: Counters {
    var result = counters.withLock { $0 }
    result.underruns = ring.statistics.underruns
    return result
  }

  private func run() {
    guard let decoder = try? OpusDecoder() else { return }
    var meter = LevelMeter()
    var last: Int16 = 0
    while let audio = mailbox.take() {
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
      if speaker != nil { ring.write(samples) }
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
