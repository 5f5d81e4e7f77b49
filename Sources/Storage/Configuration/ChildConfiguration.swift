public import Control
public import Wire

/// The content of config/child.yaml. interfaces/configuration.md, "Configuration".
public struct ChildConfiguration: Sendable, Hashable {
  /// Shown to parents, 1...63 bytes (a DNS-SD instance name, RFC 6763 section 4.1.1); nil: `defaultName(id:)`.
  public var name: String?
  /// The one TCP port.
  public var listen: ListenAddress
  /// Off unless configured.
  public var rtsp = RTSP()
  /// PEM files for HTTPS; nil: issued by the node's own root certificate over the node's identity key.
  public var tls: TLSFiles?
  /// Reverse proxies that are believed when they name a client; at most 8.
  public var proxies: Set<IPAddress> = []
  /// UDP ports for media; nil for any.
  public var mediaPorts: ClosedRange<UInt16>?
  /// Media packets carry a DSCP for Wi-Fi's queue for video.
  public var marksMedia = true
  /// 0...8, in the order in which `camera.switch` cycles through them.
  public var cameras: [Camera]
  public var microphone: Microphone
  public var speaker: Speaker
  /// 0...16.
  public var lights: [Light]
  /// The directory of lullaby files; need not exist.
  public var lullabies: String
  public var video: Video
  /// When nobody has listened for so long, that is an event; nil: never.
  public var unheard: Duration?
  /// When hearing is proven each day: minutes after midnight, local time.
  public var hearingTest: Int?
  /// 0...32.
  public var schedule: [Schedule.Entry] = []
  /// 0...8.
  public var iceServers: [ICEServerEntry]
  public var away = Away()
  /// 0...8. None unless configured: what happens in a child's room leaves the house only by the family's will.
  public var notifiers: [Notifier] = []
  /// Used only when a browser has asked for it.
  public var push = Push()
  /// Off unless configured.
  public var recording = Recording()

  /// `rtsp`: for players and recorders that speak nothing else.
  public struct RTSP: Sendable, Hashable {
    public var isEnabled = false
    /// 8554 needs no privilege, as 554, the registered one, does.
    public var listen = ListenAddress(host: "::", port: 8554)
  }

  public struct TLSFiles: Sendable, Hashable {
    public var certificate: String
    public var key: String
  }

  public struct Video: Sendable, Hashable {
    /// The encoder's lowest and highest bit rate, in kbps: 30...50000.
    public var bitrateKbps: ClosedRange<Int>
  }

  /// Default name of a node: "Cradle" and the first four digits of its id.
  public static func defaultName(id: String) -> String {
    "Cradle \(id.prefix(4).uppercased())"
  }
}

// MARK: - Defaults

extension ChildConfiguration {
  /// The values of an empty file. config/child.yaml shows the same values with their reasons; a test compares the two.
  public static let defaults = ChildConfiguration(
    name: nil,
    // `::` accepts IPv4 as well. 8443 needs no privilege and is the usual alternative to 443.
    listen: ListenAddress(host: "::", port: 8443),
    tls: nil,
    mediaPorts: nil,
    cameras: [camera(at: 0)],
    microphone: Microphone(),
    speaker: Speaker(),
    lights: [light(at: 0)],
    lullabies: "/usr/share/cradle/lullabies",
    // Below 150 kbps 720p is unusable; above 2500 kbps VP8 at 720p30 does not look better.
    video: Video(bitrateKbps: 150...2500),
    // A family that watches by turns does not want a notice of each pause.
    unheard: nil,
    // It makes a sound in the room, if a soft one; and when a child goes to bed is the family's to know.
    hearingTest: nil,
    // No server outside the home is used unless one is configured.
    iceServers: [])

  /// An entry of `cameras` without keys.
  static func camera(at index: Int) -> Camera {
    Camera(id: index == 0 ? "cot" : "camera-\(index + 1)")
  }

  /// An entry of `lights` without keys.
  static func light(at index: Int) -> Light {
    Light(id: index == 0 ? "nightlight" : "light-\(index + 1)")
  }
}
