internal import Control
internal import Devices
internal import Frames
internal import NightReport
internal import PeerConnection
internal import Pipelines
internal import Server
internal import Signaling
internal import Wire

/// Keeps the minutes of the room, and notices when nobody listens. Confined to the event loop.
final class NightWatch {
  /// What is to be noted.
  enum Finding {
    case minute(MinuteRecord)
    case unheard(Duration)
    case heardAgain(after: Duration)
    /// In seconds.
    case clockSet(Double)
  }

  private let viewers: Viewers
  private var recorder = MinuteRecorder()
  private var unheard: UnheardWatch
  /// Viewers whose link was lost, with the moment.
  private var lost: [String: Instant] = [:]
  /// Somebody who comes back later than this has not reconnected, but come again.
  private static let memory: Duration = .seconds(600)
  private static let maximumLost = 64

  /// - Parameter limit: when nobody has listened for so long, it is said; nil: never.
  init(viewers: Viewers, unheard limit: Duration?) {
    self.viewers = viewers
    unheard = UnheardWatch(limit: limit, now: MonotonicClock.now)
  }

  func levelMeasured() {
    guard case .running = viewers.audio.microphone else { return }
    recorder.note(levelDb: viewers.audio.counters.levelDb)
  }

  /// Call it each second.
  func beat() -> [Finding] {
    let now = MonotonicClock.now
    var listeners: [MinuteRecorder.Listener] = []
    for session in viewers.registry.all where session.isConnected && session.hearsSound {
      guard
        let received = session.outlet?.soundPacketsSent
          ?? viewers.hub.connection(session.peer)?.soundPacketsReceivedByPeer
      else { continue }
      listeners.append(MinuteRecorder.Listener(id: session.id, name: session.name, received: received))
    }
    let second = recorder.second(
      unix: MonotonicClock.unixTime, now: now, captured: viewers.audio.counters.captured, listeners: listeners)
    var findings = second.minutes.map { Finding.minute($0) }
    if let step = second.clockStep { findings.append(.clockSet(step)) }
    switch unheard.note(isHeard: second.isHeard, now: now) {
    case .unheard(let time): findings.append(.unheard(time))
    case .heardAgain(let time): findings.append(.heardAgain(after: time))
    case nil: break
    }
    return findings
  }

  /// The minute that has begun, cut short.
  func stop() -> MinuteRecord? { recorder.finish() }

  // MARK: Coming and going

  /// How long a viewer was without its link; nil when it was not, or left by itself.
  func cameBack(_ viewer: ViewerSession) -> Duration? {
    let now = MonotonicClock.now
    guard let since = lost.removeValue(forKey: viewer.name), now - since <= Self.memory else { return nil }
    return now - since
  }

  /// Why it left.
  func left(_ viewer: ViewerSession) -> LeavingCause {
    if viewer.isLinkLost {
      if lost.count >= Self.maximumLost { lost = lost.filter { MonotonicClock.now - $0.value <= Self.memory } }
      if lost.count < Self.maximumLost { lost[viewer.name] = MonotonicClock.now }
      return .linkLost
    }
    return viewer.endReason == nil || viewer.endReason == .left ? .left : .ended
  }
}
