public import HearingProof
internal import Sound
internal import Synchronization

/// Listens for the chirp of a proof of hearing in sound that passes, and measures its noise floor. Costs nothing while no
/// proof runs.
public final class HearingEar: Sendable {
  private struct Listening: Sendable {
    var detector = ChirpDetector()
    var floor = NoiseFloor()
    var heard: @Sendable (_ share: Double) -> Void
  }

  private let listening = Mutex<Listening?>(nil)

  public init() {}

  /// Starts again. `heard` is called on the sound's thread with the share of each chirp that is found.
  public func begin(heard: @escaping @Sendable (_ share: Double) -> Void) {
    listening.withLock { $0 = Listening(heard: heard) }
  }

  /// The noise floor since `begin`; nil before a second of sound.
  public var floor: NoiseFloor.Figures? {
    listening.withLock { $0?.floor }?.figures { Decibels.from(amplitude: $0.squareRoot()) }
  }

  /// Stops.
  public func end() {
    listening.withLock { $0 = nil }
  }

  /// The next samples, 48 kHz.
  func hear(_ samples: [Int16]) {
    let found = listening.withLock { listening -> (@Sendable () -> Void)? in
      guard listening != nil else { return nil }
      listening?.floor.add(samples)
      guard let finding = listening?.detector.add(samples), let heard = listening?.heard else { return nil }
      return { heard(finding.share) }
    }
    found?()
  }
}
