public import DeviceNames
public import Devices
internal import Sound
internal import Synchronization

/// One speaker for all that is played at once, such as several rooms: their sum, kept below full scale. Open while somebody plays.
public final class SharedSpeaker: Sendable {
  /// One that plays.
  public struct Part: Hashable, Sendable {
    fileprivate var number: Int
  }

  private let mix = Mix()
  private let supervisor: SpeakerSupervisor

  public init(_ device: SpeakerDevice) {
    supervisor = SpeakerSupervisor(device, pull: mix.pull)
  }

  /// Opens the speaker if this is the first.
  ///
  /// - Parameters:
  ///   - pull: what is to be added.
  ///   - stateChanged: called with the speaker's state, on one of its threads; at once if that is known.
  public func add(
    _ pull: @escaping PlaybackPull, stateChanged: @escaping @Sendable (SpeakerSupervisor.State) -> Void
  ) -> Part {
    let part = mix.add(pull, stateChanged)
    supervisor.start(deliver: { _ in }) { [mix] state in mix.report(state) }
    return part
  }

  /// Closes the speaker, and waits for that, if it was the last.
  public func remove(_ part: Part) {
    if mix.remove(part) { supervisor.stop() }
  }

  private final class Mix: Sendable {
    private typealias Player = (pull: PlaybackPull, stateChanged: @Sendable (SpeakerSupervisor.State) -> Void)

    private struct State {
      var players: [Part: Player] = [:]
      var next = 0
      /// Nil before the first report.
      var speaker: SpeakerSupervisor.State?
    }

    private let state = Mutex(State())

    func add(_ pull: @escaping PlaybackPull, _ stateChanged: @escaping @Sendable (SpeakerSupervisor.State) -> Void)
      -> Part
    {
      let (part, speaker) = state.withLock { state in
        let part = Part(number: state.next)
        state.next += 1
        state.players[part] = (pull, stateChanged)
        return (part, state.speaker)
      }
      if let speaker { stateChanged(speaker) }
      return part
    }

    /// True when nobody plays any more.
    func remove(_ part: Part) -> Bool {
      state.withLock { state in
        state.players[part] = nil
        if state.players.isEmpty { state.speaker = nil }
        return state.players.isEmpty
      }
    }

    func report(_ speaker: SpeakerSupervisor.State) {
      let players = state.withLock { state in
        state.speaker = speaker
        return Array(state.players.values)
      }
      for player in players { player.stateChanged(speaker) }
    }

    var pull: PlaybackPull {
      { [self] samples, heardAt in
        let players = state.withLock { Array($0.players.values) }
        guard let first = players.first else {
          for index in samples.indices { samples[index] = 0 }
          return
        }
        first.pull(&samples, heardAt)
        guard players.count > 1 else { return }
        var sum = samples.map { Float($0) / 32768 }
        for player in players.dropFirst() {
          player.pull(&samples, heardAt)
          for index in sum.indices { sum[index] += Float(samples[index]) / 32768 }
        }
        for index in sum.indices { samples[index] = Int16(SoftLimiter.limit(sum[index]) * 32767) }
      }
    }
  }
}
