/// What can happen that a parent wants to read about later.
public enum EventKind: String, CaseIterable, Sendable {
  case viewerJoined = "viewer-joined"
  case viewerLeft = "viewer-left"
  case paired
  case unpaired
  case pairingOpened = "pairing-opened"
  case pairingClosed = "pairing-closed"
  /// `id` is the light.
  case light
  /// `id` is the track.
  case lullaby
  case talk
  /// `id` is the camera.
  case cameraSwitched = "camera-switched"
  case cameraLost = "camera-lost"
  case cameraBack = "camera-back"
  case screenshot
  case microphoneLost = "microphone-lost"
  case microphoneBack = "microphone-back"
  case speakerLost = "speaker-lost"
  case speakerBack = "speaker-back"
  /// The child began anew.
  case restart
}

/// The latest events, oldest first. Keeping them over a restart is the shell's part.
public struct EventLog: Sendable {
  /// Some days of a household; about 100 KB.
  public static let defaultCapacity = 512

  private let capacity: Int
  /// Up to twice the capacity, so that making room costs little each time.
  private var events: [EventDocument]
  private var nextSequence: UInt64

  /// - Parameter restored: what an earlier run kept, oldest first.
  public init(capacity: Int = defaultCapacity, restored: [EventDocument] = []) {
    self.capacity = max(1, capacity)
    events = restored.suffix(self.capacity)
    nextSequence = min((events.map(\.sequence).max() ?? 0), UInt64(ControlLimits.sequence.upperBound)) &+ 1
  }

  /// Notes what happened; the event, for the push.
  ///
  /// - Parameters:
  ///   - time: seconds since 1970-01-01 UTC.
  ///   - name: whose doing it was.
  ///   - id: which light, camera or track.
  ///   - detail: in words; the first 200 characters stay.
  public mutating func append(
    _ kind: EventKind, time: Double, name: String? = nil, id: String? = nil, detail: String? = nil
  ) -> EventDocument {
    let event = EventDocument(
      sequence: nextSequence, kind: kind.rawValue, time: time, name: name, id: id,
      detail: detail.map { String($0.unicodeScalars.prefix(200)) })
    nextSequence &+= 1
    if events.count >= 2 * capacity { events.removeFirst(capacity) }
    events.append(event)
    return event
  }

  /// What a restart keeps, oldest first.
  public var all: [EventDocument] { Array(events.suffix(capacity)) }

  /// `events.get`, oldest first: after `since` the first `limit`, so that asking on from the last one brings all;
  /// without it the latest. A `since` that never was comes from before a log was lost, and counts as none.
  public func events(since: UInt64?, limit: Int?) -> [EventDocument] {
    let kept = events.suffix(capacity)
    let limit = max(1, limit ?? ControlDefaults.eventLimit)
    guard let since, since < nextSequence else { return Array(kept.suffix(limit)) }
    return Array(kept.drop { $0.sequence <= since }.prefix(limit))
  }
}
