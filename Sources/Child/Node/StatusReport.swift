public import Control
public import FoundationEssentials

/// Output of `cradle-child status`.
public struct StatusReport: ControlReply {
  public struct Camera: Codable, Hashable, Sendable {
    public var id: String
    /// As configured.
    public var device: String
    /// `opening`, `running` or `missing`.
    public var state: String
    /// The device's own name, or why it is missing.
    public var detail: String
    public var width: Int?
    public var height: Int?
    public var framesPerSecond: Double?
    public var pixelFormat: String?
    public var captured: UInt64
    public var encoded: UInt64
    public var keyFrames: UInt64
    /// Pictures that were not whole, and dropped, since the camera was opened.
    public var damaged: UInt64 = 0
    /// Their share of the last hundred, in percent.
    public var damagedPercent = 0
    /// Frames that were encoded but never sent, because the event loop was stalled.
    public var dropped: UInt64 = 0
    public var targetKbps: Int
    /// Mean time to encode one picture.
    public var encodeMilliseconds: Double?
    /// libvpx `cpu-used`.
    public var encoderSpeed: Int
    /// A sentence for each of `controls` that could not be set, or that has no effect.
    public var controlProblems: [String]?
    /// A sentence for all that is odd about the camera but does no harm, and for a mode that is not its best.
    public var remarks: [String]?
    /// Whether it is night for this camera, by `night` of the configuration.
    public var night: Bool?
    /// How bright the picture is, 0 (black) ... 1 (white), as measured last; nil unless `night` is `auto`.
    public var brightness: Double?
    /// The infrared lamp: `on`, `off` or `missing`; nil without one.
    public var infrared: String?
    /// Those that somebody is on.
    public var renditions: [Rendition] = []
  }

  /// One encoder of a camera.
  public struct Rendition: Codable, Hashable, Sendable {
    /// `high`, `middle`, `low`, or `refreshed`: as `high`, for players that never ask for a key frame.
    public var name: String
    /// `VP8` or `H264`; nil from a daemon of an earlier version, which has the first alone.
    public var codec: String?
    public var targetKbps: Int
    /// Of its last picture; nil before the first.
    public var width: Int?
    public var height: Int?
    public var encoded: UInt64
    public var keyFrames: UInt64
    /// Viewers that are on it, those with stills among them.
    public var viewers: Int
  }

  public struct Microphone: Codable, Hashable, Sendable {
    public var device: String
    public var state: String
    public var detail: String
    public var captured: UInt64
    public var encoded: UInt64
    /// With the configured gain: as it is sent.
    public var levelDb: Double
    /// The rate that it is set to, in Hz, and the one that it really delivers, once that is known.
    public var sampleRate: Int?
    public var measuredRate: Int?
    /// A sentence for all that is odd about it, and what is done about it.
    public var remarks: [String]?
  }

  public struct Speaker: Codable, Hashable, Sendable {
    /// As configured.
    public var device: String
    /// `off`, `opening`, `running` or `missing`.
    public var state: String
    /// The device's own name, or why it is missing.
    public var detail: String
  }

  public struct Viewer: Codable, Hashable, Sendable {
    /// Name of the token or pair record.
    public var name: String
    /// W3C RTCPeerConnectionState.
    public var state: String
    public var permissions: [String]
    public var seconds: Double
    public var candidatePair: String?
    public var roundTripMs: Double?
    public var bytesSent: UInt64
    public var packetsSent: UInt64
    public var packetsRetransmitted: UInt64
    public var fractionLost: Double?
    public var availableOutgoingKbps: Int
    /// What it is sent of the picture: `high`, `middle`, `low`, `stills` or `none`; nil without a picture track.
    public var picture: String?
    /// Why it is not sent more; nil where nothing is held back.
    public var pictureReason: String?
    /// Sentences about what its offer asks for and it does not get: `no picture: its offer has H265, not VP8 or H264`; nil for none.
    public var problems: [String]?
    /// What is known of the path to it; nil before there is a connection.
    public var path: PathDocument?
  }

  /// Requests of a player that were refused for the same reason.
  public struct Refused: Codable, Hashable, Sendable {
    /// Of the player.
    public var address: String
    /// Name of its token, where that is or was one of this unit.
    public var token: String?
    /// Of HTTP: 401, 404, 429 …
    public var status: Int
    public var reason: String
    public var count: Int
    public var firstAt: Date
    public var lastAt: Date
  }

  /// Media datagrams, of all viewers.
  public struct Datagrams: Codable, Hashable, Sendable {
    /// Refused by the kernel, or not sent in time.
    public var lost: UInt64
    /// Received, but from no viewer.
    public var ignored: UInt64
  }

  public struct Notifier: Codable, Hashable, Sendable {
    public var name: String
    /// `idle`, `sending`, or `failing` when the last try failed.
    public var state: String
    /// Since the child has started.
    public var delivered: Int
    public var waiting: Int
    public var failuresInARow: Int
    /// Until something is delivered again.
    public var lastError: String?
  }

  public var name: String
  public var id: String
  public var version: String
  public var uptimeSeconds: Double
  /// TCP port of HTTPS.
  public var port: Int
  /// UDP port of media.
  public var mediaPort: Int
  /// TCP port of RTSP; nil: it is off.
  public var rtspPort: Int?
  public var cameras: [Camera]
  public var microphone: Microphone
  /// Nil from a daemon of an earlier version.
  public var speaker: Speaker?
  public var viewers: [Viewer]
  /// Players that were refused in the last day, the latest first; nil for none.
  public var refused: [Refused]?
  public var datagrams: Datagrams
  /// Nil when none is configured.
  public var notifiers: [Notifier]?
  /// Browsers to which alarms are pushed; nil when there is none.
  public var pushes: [Notifier]?
  /// What is wrong with the contact that push services get; nil if nothing is.
  public var pushTrouble: String?
  /// Current problems, for display.
  public var alarms: [String]
  /// Parents that are paired, and tokens; nil from a daemon of an earlier version.
  public var pairs: Int?
  public var tokens: Int?
  /// Whether somebody has `admin` and uses it.
  public var hasOwner: Bool?
  /// The file that the daemon has read its configuration from; nil: it has the defaults.
  public var configurationFile: String?
  /// Where it keeps identity, pairs and tokens; nil: an older daemon.
  public var stateDirectory: String?
}
