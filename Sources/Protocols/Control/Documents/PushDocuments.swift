public import Wire

/// `hello`, the first message on an open channel.
public struct HelloDocument: Codable, Hashable, Sendable {
  public var name: String
  /// 16 hexadecimal digits.
  public var id: String
  public var version: String
  /// The commands that this child supports, regardless of permissions.
  public var capabilities: [String]
  /// Names of the permissions of this session.
  public var permissions: [String]
  /// The id of this session among the viewers in `state`.
  public var viewer: String
  public var state: StateDocument
  /// How to reach the child from elsewhere; for paired parents alone.
  public var away: AwayDocument?
  /// Where it is in its home now, `https://HOST:PORT`, the best first; for paired parents alone.
  public var origins: [String]?

  public init(
    name: String, id: String, version: String, capabilities: [String], permissions: [String], viewer: String,
    state: StateDocument, away: AwayDocument? = nil, origins: [String]? = nil
  ) {
    self.name = name
    self.id = id
    self.version = version
    self.capabilities = capabilities
    self.permissions = permissions
    self.viewer = viewer
    self.state = state
    self.away = away
    self.origins = origins
  }
}

/// What a parent needs to reach the child from outside the home.
public struct AwayDocument: Codable, Hashable, Sendable {
  /// In order of preference.
  public var iceServers: [ICEServerDocument]
  /// Where the child is met; nil from a child of an earlier version.
  public var meetings: [MeetingDocument]?

  public init(iceServers: [ICEServerDocument], meetings: [MeetingDocument]? = nil) {
    self.iceServers = iceServers
    self.meetings = meetings
  }
}

/// A server on the Internet where a child is met, with a parent's credentials. A parent leaves out what it does not know.
public struct MeetingDocument: Codable, Hashable, Sendable {
  /// `rendezvous`, `mqtt` or `xmpp`.
  public var kind: String
  /// Of a rendezvous (`wss:`) or a broker (`mqtt:`, `mqtts:`).
  public var url: String?
  /// SHA-256 over the SubjectPublicKeyInfo of the server's key, in hexadecimal digits.
  public var keySHA256: String?
  public var username: String?
  public var password: String?
  /// Of a broker.
  public var topic: String?
  /// The child's account at an XMPP server; `username` is ours there.
  public var child: String?
  /// Where an XMPP server is, if not where DNS says.
  public var host: String?
  public var port: Int?

  public init(kind: String, url: String? = nil, keySHA256: String? = nil) {
    self.kind = kind
    self.url = url
    self.keySHA256 = keySHA256
  }
}

/// Why a device counts as missing although it delivers.
public enum DeviceFault: String, CaseIterable, Sendable {
  /// The picture repeats itself bit for bit, which no sensor does.
  case frozen
  /// The sound is nothing but zeros, or repeats itself, which no microphone does.
  case digitalSilence = "digital-silence"
}

/// What a viewer is sent of the picture, from nothing to all. Its path decides.
public enum PictureStep: String, CaseIterable, Comparable, Sendable {
  case soundAlone = "none"
  /// A key frame of the smallest rendition every few seconds.
  case stills
  /// 180 rows, 10 fps.
  case low
  /// 360 rows.
  case middle
  /// As the camera delivers it.
  case high

  public static func < (one: PictureStep, other: PictureStep) -> Bool {
    let position = { allCases.firstIndex(of: $0) ?? 0 }
    return position(one) < position(other)
  }
}

/// What this viewer is sent of the picture, and why not more.
public struct PictureDocument: Codable, Hashable, Sendable {
  /// A `PictureStep`, or one that only a newer child knows.
  public var rendition: String
  /// Left out where nothing is held back.
  public var reason: String?

  public init(rendition: PictureStep, reason: String? = nil) {
    self.rendition = rendition.rawValue
    self.reason = reason
  }

  /// The viewer's path carries no more.
  public static let weakConnection = "weak-connection"
  /// As much as a night may cost has passed through the relay.
  public static let relayData = "relay-data"
}

/// `heartbeat`, once per second. Counters never decrease while the child runs, so one that stands still means a frozen
/// device.
public struct HeartbeatDocument: Codable, Hashable, Sendable {
  public struct Video: Codable, Hashable, Sendable {
    public var state: DeviceState
    public var captured: UInt64
    public var encoded: UInt64
    public var keyFrames: UInt64
    /// Packets sent to this viewer.
    public var sent: UInt64
    public var targetKbps: Int
    /// A `DeviceFault`, or one that only a newer child knows.
    public var fault: String?
    /// Nil from a child of an earlier version.
    public var picture: PictureDocument?
    /// Of the picture that was sent to this viewer last: its RTP timestamp, and when it was captured, ms since 1970 on the
    /// child's clock. The names are those of W3C's RTCRtpContributingSource. Nil before the first.
    public var rtpTimestamp: UInt32?
    public var captureTimestamp: Double?

    public init(
      state: DeviceState, captured: UInt64, encoded: UInt64, keyFrames: UInt64, sent: UInt64, targetKbps: Int,
      fault: DeviceFault? = nil, picture: PictureDocument? = nil, rtpTimestamp: UInt32? = nil,
      captureTimestamp: Double? = nil
    ) {
      self.picture = picture
      self.rtpTimestamp = rtpTimestamp
      self.captureTimestamp = captureTimestamp
      self.fault = fault?.rawValue
      self.state = state
      self.captured = captured
      self.encoded = encoded
      self.keyFrames = keyFrames
      self.sent = sent
      self.targetKbps = targetKbps
    }
  }

  public struct Audio: Codable, Hashable, Sendable {
    public var state: DeviceState
    public var captured: UInt64
    public var encoded: UInt64
    /// Packets sent to this viewer.
    public var sent: UInt64
    /// dB relative to full scale.
    public var levelDb: Double
    /// As for video.
    public var fault: String?

    public init(
      state: DeviceState, captured: UInt64, encoded: UInt64, sent: UInt64, levelDb: Double, fault: DeviceFault? = nil
    ) {
      self.fault = fault?.rawValue
      self.state = state
      self.captured = captured
      self.encoded = encoded
      self.sent = sent
      self.levelDb = levelDb
    }
  }

  public var time: Double
  public var uptimeSeconds: Double
  /// Left out without the permission `view`.
  public var video: Video?
  /// Left out without the permission `listen`.
  public var audio: Audio?
  /// The path to this viewer. Nil in four of five heartbeats where it carries less than 100 kbit/s, and from a child of an
  /// earlier version.
  public var path: PathDocument?

  public init(time: Double, uptimeSeconds: Double, video: Video?, audio: Audio?, path: PathDocument? = nil) {
    self.time = time
    self.uptimeSeconds = uptimeSeconds
    self.video = video
    self.audio = audio
    self.path = path
  }
}

/// `level`, five times a second, for viewers with the permission `listen`; on a narrow path the loudest of each second.
public struct LevelDocument: Codable, Hashable, Sendable {
  /// RMS level, dB relative to full scale.
  public var levelDb: Double
  public var time: Double

  public init(levelDb: Double, time: Double) {
    self.levelDb = levelDb
    self.time = time
  }
}

/// `event`, and an element of the reply to `events.get`.
public struct EventDocument: ListedDocument {
  public static let listMember = "events"

  /// Increases by one with each event; `since` refers to it.
  public var sequence: UInt64
  /// An `EventKind`, or one that only a newer child knows.
  public var kind: String
  /// An `EventLevel`; nil from a child of an earlier version.
  public var level: String?
  public var time: Double
  /// Who caused it.
  public var name: String?
  /// Which light, camera or track.
  public var id: String?
  /// For people.
  public var detail: String?
  /// When it began, where that is reported later: seconds since 1970-01-01 UTC by the clock of who reports it.
  public var began: Double?
  /// When somebody acknowledged it, by the same clock.
  public var acknowledgedAt: Double?
  /// How often it happened from `began` to `time`; nil: once.
  public var count: Int?

  public init(
    sequence: UInt64, kind: String, level: String? = nil, time: Double, name: String? = nil, id: String? = nil,
    detail: String? = nil, began: Double? = nil, acknowledgedAt: Double? = nil, count: Int? = nil
  ) {
    self.sequence = sequence
    self.kind = kind
    self.level = level
    self.time = time
    self.name = name
    self.id = id
    self.detail = detail
    self.began = began
    self.acknowledgedAt = acknowledgedAt
    self.count = count
  }

  /// Whether it is as grave as `level`. An event without a level, or with one that is not known here, is a notice.
  public func isAtLeast(_ level: EventLevel) -> Bool {
    (self.level.flatMap(EventLevel.init) ?? .notice) >= level
  }
}
