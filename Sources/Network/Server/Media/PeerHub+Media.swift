internal import NIOCore
internal import PeerConnection
public import SDP
public import Wire

/// When each of many viewers gets a picture: not all at the same instant, which a switch with little memory or the air would
/// have to take at once.
///
/// 24 viewers of 720p are 200 KB for each picture. Through 100 Mbit/s with 150 KB of memory a fifth of all packets was lost
/// when they left at once, nearly as many within 5 ms, and a tenth of that within 15 ms.
struct BurstSpread {
  /// 5 ms for the least number.
  static let durationForEach: Duration = .microseconds(625)
  /// A picture lasts 33 ms.
  static let longest: Duration = .milliseconds(15)
  /// The loop wakes up for each, so few.
  static let slots = 5
  /// Fewer are served at once.
  static let leastViewers = 8

  /// Pictures of which some viewers' turns are still to come.
  private(set) var pending = 0
  private var duration: Duration = .zero

  /// From the first viewer's turn to the last one's; nil: all at once. What waits goes first in any case, so it never
  /// shortens meanwhile.
  mutating func plan(viewers: Int) -> Duration? {
    let wanted = viewers < Self.leastViewers ? .zero : min(Self.longest, Self.durationForEach * viewers)
    duration = pending > 0 ? max(duration, wanted) : wanted
    return duration == .zero ? nil : duration
  }

  /// The same for a viewer at all times, so that its pictures keep their order.
  static func slot(of number: UInt64) -> Int { Int(number % UInt64(slots)) }

  mutating func began() { pending += 1 }
  mutating func ended() { pending -= 1 }
}

extension PeerHub {
  /// Sends one frame or audio packet; payloads are shared, not copied. To many viewers a picture goes in turns
  /// (`BurstSpread`); sound goes at once.
  ///
  /// - Parameter receivers: nil: every peer.
  /// - Parameter source: the encoder of a picture; see `RTPSender.send`.
  public func send(
    _ payloads: [[UInt8]], kind: MediaKind, mediaTime: UInt32, captureTime: Instant, temporalLayer: Int = 0,
    isKeyFrame: Bool = false, source: Int = 0, to receivers: [PeerID]? = nil
  ) {
    eventLoop.preconditionInEventLoop()
    let send = { [self] (wanted: [PeerID]) in
      let now = now()
      for id in wanted {
        guard let peer = peers[id] else { continue }
        peer.connection.send(
          payloads, kind: kind, mediaTime: mediaTime, captureTime: captureTime, temporalLayer: temporalLayer,
          isKeyFrame: isKeyFrame, source: source, now: now)
        drain(peer)
      }
      finishTurn()
    }
    let wanted = receivers ?? Array(peers.keys)
    guard kind == .video, let duration = spread.plan(viewers: wanted.count) else { return send(wanted) }
    let turns = Dictionary(grouping: wanted) { BurstSpread.slot(of: $0.number) }
    for (slot, ids) in turns where slot > 0 {
      spread.began()
      let delay = duration * slot / (BurstSpread.slots - 1)
      eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(delay.nanoseconds)) { [weak self] in
        guard let self else { return }
        spread.ended()
        send(ids)
      }
    }
    send(turns[0] ?? [])
  }
}
