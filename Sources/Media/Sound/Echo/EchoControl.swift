public import Frames
internal import Synchronization
public import Wire

/// Removes a speaker's sound from the signal of a microphone in the same room.
///
/// Speaker and microphone may be two devices with two clocks: the played sound is tracked by the time at which it is
/// heard, and resampled by the clocks' small difference. Costs nothing while nothing is played.
public final class EchoControl: Sendable {
  private let played = Mutex(PlayedSound())
  private let worker = Worker()

  public init() {}

  /// From the speaker's thread: the next samples, and when the first of them will be heard. Silence too.
  public func play(_ samples: [Int16], heardAt: Instant) {
    played.withLock { $0.append(samples, heardAt: heardAt) }
  }

  /// From the microphone's thread, block by block: removes the echo from the block. While active, the sound comes out
  /// 20 ms late.
  public func clean(_ block: inout AudioBlock) {
    worker.clean(&block, played)
  }

  /// Whether the last block was processed.
  public var isWorking: Bool { worker.isActive.load(ordering: .relaxed) }
}

/// Used only by the microphone's thread.
private final class Worker: @unchecked Sendable {
  let isActive = Atomic(false)
  /// Created with the first sound and kept, because it has then learned the room.
  private var canceller: EchoCanceller?
  private var follower = PlaybackFollower()
  private var reference = [Int16](repeating: 0, count: AudioFormat.samplesPerBlock)
  private var cleaned = [Int16](repeating: 0, count: AudioFormat.samplesPerBlock)

  /// A room reverberates, and a speaker may be later than it reports.
  private static let patience: Duration = .milliseconds(500)

  func clean(_ block: inout AudioBlock, _ played: borrowing Mutex<PlayedSound>) {
    let wasActive = isActive.load(ordering: .relaxed)
    let isNeeded = played.withLock { played in
      guard follower.follow(played, at: block.captureTime), let until = played.audibleUntil,
        block.captureTime < until + Self.patience
      else {
        follower.rest()
        return false
      }
      follower.read(played, into: &reference)
      return true
    }
    if isNeeded, canceller == nil { canceller = EchoCanceller() }
    guard isNeeded || wasActive, let canceller else { return }
    if !isNeeded { reference.withUnsafeMutableBufferPointer { $0.update(repeating: 0) } }
    canceller.cancel(block.samples, played: reference, into: &cleaned)
    if isNeeded && wasActive {
      swap(&block.samples, &cleaned)
    } else {
      // Crossfade, because one of the two is 20 ms later.
      let count = AudioFormat.samplesPerBlock
      for index in 0..<count {
        let step = isNeeded ? index : count - index
        block.samples[index] = Crossfade.mix(block.samples[index], cleaned[index], step: step, of: count)
      }
    }
    isActive.store(isNeeded, ordering: .relaxed)
  }
}
