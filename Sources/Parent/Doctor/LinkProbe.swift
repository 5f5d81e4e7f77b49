internal import Control
internal import Frames
internal import Wire

/// Watches a child for some seconds and pings it at the same time.
struct LinkProbe {
  let child: PairedChild
  let wantsPicture: Bool
  let wantsSound: Bool

  /// More often would show no more: a sleeping radio waits for a Wi-Fi beacon, and those come ten times a second.
  private static let pingInterval: Duration = .milliseconds(200)
  /// For sound and picture to begin, once the child answers commands: on a lossy link the DTLS handshake is repeated after
  /// 1, 2, 4 and 8 s (RFC 6347 section 4.2.4.1).
  private static let patience: Duration = .seconds(20)

  private enum Event: Sendable {
    case connected
    case ended(ParentError)
  }

  /// - Parameters:
  ///   - session: an open one, which is left open.
  ///   - tick: called each second with the number of seconds that have passed.
  /// - Throws: `ParentError`.
  func measure(
    _ session: ControlSession, seconds: Int, tick: @escaping @Sendable (Int) -> Void
  ) async throws -> LinkFigures {
    let watcher = wantsPicture || wantsSound ? try await watch() : nil
    let began = MonotonicClock.now
    let end = began + .seconds(seconds)
    let counting = Task {
      for second in 1..<max(2, seconds) {
        try? await Task.sleep(for: max(.zero, began + .seconds(second) - MonotonicClock.now))
        if Task.isCancelled { return }
        tick(second)
      }
    }
    defer { counting.cancel() }
    var pings: [LinkFigures.Ping] = []
    var unanswered = 0
    var next = began
    while MonotonicClock.now < end {
      do {
        pings.append(try await ping(session))
      } catch {
        unanswered += 1
        // Nor would any further one be answered.
        if error as? ControlFailure == .closed { break }
      }
      next = max(next + Self.pingInterval, MonotonicClock.now)
      try await Task.sleep(for: max(.zero, min(next, end) - MonotonicClock.now))
    }
    // The picture may still arrive when the channel is gone.
    try await Task.sleep(for: max(.zero, end - MonotonicClock.now))
    let took = (MonotonicClock.now - began).inSeconds
    let watched = await watcher?.stop()
    return LinkFigures(seconds: took, pings: pings, unanswered: unanswered, watched: watched)
  }

  private func ping(_ session: ControlSession) async throws -> LinkFigures.Ping {
    let sent = MonotonicClock.now
    let theirs = try await session.perform(Ping()).time
    let roundTrip = (MonotonicClock.now - sent).inMilliseconds
    let ours = Double(MonotonicClock.unixNanoseconds) / 1e6 - roundTrip / 2
    return LinkFigures.Ping(roundTripMs: roundTrip, clockAheadMs: theirs * 1000 - ours)
  }

  /// Returns when sound and picture can arrive.
  private func watch() async throws -> Watcher {
    var options = WatchOptions(.child(child))
    options.wantsVideo = wantsPicture
    options.wantsAudio = wantsSound
    let (events, said) = AsyncStream.makeStream(of: Event.self)
    let watcher = try await Watcher.start(
      options, notice: { notice in if notice.kind == .connected { said.yield(.connected) } },
      ended: { error in said.yield(.ended(error)) })
    let limit = Task {
      try? await Task.sleep(for: Self.patience)
      said.yield(.ended(ParentError("sound and picture did not begin in time", isFinal: false)))
    }
    defer { limit.cancel() }
    for await event in events {
      switch event {
      case .connected: return watcher
      case .ended(let error):
        _ = await watcher.stop()
        throw error
      }
    }
    _ = await watcher.stop()
    throw CancellationError()
  }
}
