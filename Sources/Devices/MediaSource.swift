public import DeviceNames
public import Frames
public import Sound
internal import Wire

/// A device that is open and ready to deliver. It runs on a thread of its own.
///
/// Lifecycle: opened by `VideoSources.open` or `AudioSources.open`, `start` once, `stop` once or more. Never restarted.
public protocol MediaSource<Info, Element>: AnyObject, Sendable {
  associatedtype Info: Equatable, Sendable
  associatedtype Element: Sendable

  /// What was opened and what it actually delivers. It may change while the device runs, when more is known of it.
  var info: Info { get }

  /// What it has delivered too damaged to be used.
  var damage: Damage { get }

  /// Starts delivery. Both closures are called on the source's thread and must not block or call `stop`.
  /// `failed` is called at most once, and nothing is delivered after it.
  func start(
    deliver: @escaping @Sendable (Element) -> Void, failed: @escaping @Sendable (DeviceError) -> Void)

  /// Ends delivery, joins the thread and closes the device. Neither closure is called after that. Idempotent.
  func stop()
}

extension MediaSource {
  /// For sources that deliver everything whole.
  public var damage: Damage { Damage() }
}

/// Pictures: a camera, a file, or the test picture.
public typealias VideoSource = MediaSource<VideoSourceInfo, VideoFrame>

/// Sound in blocks of 20 ms: a microphone, a file, or the test tone.
public typealias AudioSource = MediaSource<AudioSourceInfo, AudioBlock>

/// What an open video source delivers.
public struct VideoSourceInfo: Hashable, Sendable {
  /// A path, or "test".
  public var device: String
  /// The device's human-readable name.
  public var name: String
  /// Pixels; both even. As delivered: turned.
  public var width: Int
  public var height: Int
  /// The nominal rate; low light makes many cameras slower.
  public var framesPerSecond: Double
  /// The device's own pixel format: "YUYV", "MJPG", "Y4M", ….
  public var pixelFormat: String
  public var request: VideoRequest
  /// How the pictures have been turned.
  public var orientation: Orientation
  /// A sentence for each of the request's controls that could not be set, or that has no effect. The camera works all
  /// the same.
  public var controlProblems: [String]
  /// What is odd about the device but does no harm, or why it has another mode than its best: a sentence each, for a person.
  public var remarks: [String]
  /// A better mode for which the USB bus had no room; nil if it had.
  public var refusedMode: String?

  /// - Parameter controlProblems: nil for a source that has no controls.
  public init(
    device: String, name: String, width: Int, height: Int, framesPerSecond: Double, pixelFormat: String,
    request: VideoRequest, orientation: Orientation = Orientation(), controlProblems: [String]? = nil,
    refusedMode: String? = nil
  ) {
    self.orientation = orientation
    self.refusedMode = refusedMode
    remarks =
      refusedMode.map { ["The USB bus has no room for \($0); \(pixelFormat) \(width)x\(height) is used."] } ?? []
    self.device = device
    self.name = name
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.pixelFormat = pixelFormat
    self.request = request
    self.controlProblems =
      controlProblems ?? (request.controls.isEmpty ? [] : ["controls: only V4L2 cameras have them, and this is none"])
  }

  /// True if the device had no mode as requested; a rate within 2 % counts as equal (29.97 for 30).
  public var differsFromRequest: Bool {
    orientation.size(width, height) != (request.width, request.height)
      || abs(framesPerSecond - request.framesPerSecond) > request.framesPerSecond * 0.02
  }

  /// For the log: "640x480 at 25 frames/s, YUYV".
  public var mode: String {
    "\(width)x\(height) at \(rateText) frames/s, \(pixelFormat)"
      + (orientation == Orientation() ? "" : ", \(orientation)")
  }

  private var rateText: String {
    let hundredths = Int(saturating: (framesPerSecond * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    return rest == 0 ? "\(whole)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}

/// What an open audio source delivers. The samples are always in `AudioFormat`.
public struct AudioSourceInfo: Hashable, Sendable {
  /// The ALSA name opened in the end, a path, or "test".
  public var device: String
  /// The device's human-readable name.
  public var name: String
  /// A file's rate before conversion; for a device, the rate it was opened with (ALSA may convert).
  public var sampleRate: Int
  public var channels: Int
  /// The rate that a device really delivers in Hz, once it is known; `sampleRate` if it is within 0.5 % of it. With another one
  /// its sound is resampled.
  public var measuredRate: Int?
  /// How a device's two channels are wired.
  public var wiring = ChannelMixer.Wiring.regular

  /// What is odd about the device, and what is done about it: a sentence each, for a person.
  public var remarks: [String] {
    var remarks: [String] = []
    if let measuredRate, measuredRate != sampleRate {
      remarks.append("It delivers \(measuredRate) samples a second where \(sampleRate) are set; they are resampled.")
    }
    if wiring != .regular { remarks.append(wiring.rawValue) }
    return remarks
  }
}
