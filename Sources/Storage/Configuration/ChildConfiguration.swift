public import DeviceNames

/// The content of config/child.yaml. interfaces/configuration.md, "Configuration".
public struct ChildConfiguration: Sendable, Hashable {
  /// Shown to parents, 1...63 bytes (a DNS-SD instance name, RFC 6763 section 4.1.1); nil: `defaultName(id:)`.
  public var name: String?
  /// The one TCP port.
  public var listen: ListenAddress
  /// PEM files for HTTPS; nil: issued by the node's own root certificate over the node's identity key.
  public var tls: TLSFiles?
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
  /// 0...8.
  public var iceServers: [ICEServerEntry]
  public var away = Away()
  /// 0...8. None unless configured: what happens in a child's room leaves the house only by the family's will.
  public var notifiers: [Notifier] = []
  /// Used only when a browser has asked for it.
  public var push = Push()
  /// Off unless configured.
  public var recording = Recording()

  public struct TLSFiles: Sendable, Hashable {
    public var certificate: String
    public var key: String
  }

  public struct Camera: Sendable, Hashable {
    /// 1...32 letters, digits, `-` and `_`; unique.
    public var id: String
    public var device: VideoDevice
    /// Pixels, even: 16...7680.
    public var width: Int
    /// Pixels, even: 16...4320.
    public var height: Int
    /// Frames a second, 1...120.
    public var framerate: Int
    /// For `rpicam:` devices, and for `auto` where it finds one.
    public var raspberryPi = RaspberryPiSettings()
    /// For V4L2 cameras, in the order written.
    public var controls: [CameraControl] = []
    /// At night the frame rate of a V4L2 camera may fall so that the picture stays bright.
    public var hasSlowShutter = true
    /// When lamp, slow shutter and noise filter are on. By the picture's brightness: it needs no clock and no season.
    public var night = NightMode.auto
    /// The infrared lamp that goes with the night.
    public var infrared = LightDevice.off
  }

  public struct Microphone: Sendable, Hashable {
    public var device: AudioDevice
    /// How much louder it is made.
    public var gain = MicrophoneGain.none
    /// Nothing but zeros is a quiet room, not a microphone that has failed.
    public var mayBeSilent: Bool
  }

  public struct Speaker: Sendable, Hashable {
    public var device: SpeakerDevice
    /// Percent, 0...100; no command can exceed it.
    public var maximumVolume: Int
  }

  public struct Light: Sendable, Hashable {
    /// 1...32 letters, digits, `-` and `_`; unique.
    public var id: String
    public var device: LightDevice
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
    microphone: Microphone(device: .auto, mayBeSilent: false),
    // Loud enough for a lullaby across a room, but not harmful to a child's ears beside the cot.
    speaker: Speaker(device: .auto, maximumVolume: 60),
    lights: [light(at: 0)],
    lullabies: "/usr/share/cradle/lullabies",
    // Below 150 kbps 720p is unusable; above 2500 kbps VP8 at 720p30 does not look better.
    video: Video(bitrateKbps: 150...2500),
    // A family that watches by turns does not want to be told of each pause.
    unheard: nil,
    // It makes a sound in the room, if a soft one; and when a child goes to bed is the family's to know.
    hearingTest: nil,
    // No server outside the home is used unless one is configured.
    iceServers: [])

  /// An entry of `cameras` without keys. Nearly every USB camera delivers 720p30 as MJPEG.
  static func camera(at index: Int) -> Camera {
    Camera(id: index == 0 ? "cot" : "camera-\(index + 1)", device: .auto, width: 1280, height: 720, framerate: 30)
  }

  /// An entry of `lights` without keys. The GPIO line of a lamp cannot be guessed.
  static func light(at index: Int) -> Light {
    Light(id: index == 0 ? "nightlight" : "light-\(index + 1)", device: .off)
  }
}
