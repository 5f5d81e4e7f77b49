public import Frames
internal import Wire

/// A device that is open and ready to deliver. It runs on a thread of its own.
///
/// Life: opened by `VideoSources.open` or `AudioSources.open`, `start` once, `stop` once or more. Not started again.
public protocol MediaSource<Info, Element>: AnyObject, Sendable {
  associatedtype Info: Sendable
  associatedtype Element: Sendable

  /// What was opened and what it really delivers.
  var info: Info { get }

  /// Begins to deliver. Both closures are called on the source's thread and must not block or call `stop`.
  /// `failed` is called at most once, and nothing is delivered after it.
  func start(
    deliver: @escaping @Sendable (Element) -> Void, failed: @escaping @Sendable (DeviceError) -> Void)

  /// Ends delivery, waits for the thread and lets the device go. After that neither closure is called. Idempotent.
  func stop()
}

/// Pictures: a camera, a file, or the test picture.
public typealias VideoSource = MediaSource<VideoSourceInfo, VideoFrame>

/// Sound in blocks of 20 ms: a microphone, a file, or the test tone.
public typealias AudioSource = MediaSource<AudioSourceInfo, AudioBlock>

/// What the configuration asks of a camera.
public struct VideoRequest: Hashable, Sendable {
  /// Pixels.
  public var width: Int
  public var height: Int
  public var framesPerSecond: Double

  public init(width: Int, height: Int, framesPerSecond: Double) {
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
  }
}

/// What an open video source delivers.
public struct VideoSourceInfo: Hashable, Sendable {
  /// A path, or "test".
  public var device: String
  /// The device's own name, for people.
  public var name: String
  /// Pixels; both even.
  public var width: Int
  public var height: Int
  /// The nominal rate; low light makes many cameras slower.
  public var framesPerSecond: Double
  /// How the pictures come from the device: "YUYV", "MJPG", "Y4M", ….
  public var pixelFormat: String
  public var request: VideoRequest

  public init(
    device: String, name: String, width: Int, height: Int, framesPerSecond: Double, pixelFormat: String,
    request: VideoRequest
  ) {
    self.device = device
    self.name = name
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.pixelFormat = pixelFormat
    self.request = request
  }

  /// True if the device had no mode as it was asked for; within 2 % a rate counts as the same (29.97 for 30).
  public var differsFromRequest: Bool {
    width != request.width || height != request.height
      || abs(framesPerSecond - request.framesPerSecond) > request.framesPerSecond * 0.02
  }

  /// For the log: "640x480 at 25 frames/s, YUYV".
  public var mode: String {
    "\(width)x\(height) at \(rateText) frames/s, \(pixelFormat)"
  }

  private var rateText: String {
    let hundredths = Int(saturating: (framesPerSecond * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    return rest == 0 ? "\(whole)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}

/// What an open audio source delivers. The sound itself is always as `AudioFormat` says.
public struct AudioSourceInfo: Hashable, Sendable {
  /// The ALSA name that was opened in the end, a path, or "test".
  public var device: String
  /// The device's own name, for people.
  public var name: String
  /// Of the file before conversion; for a device what it was opened with (ALSA converts behind that).
  public var sampleRate: Int
  public var channels: Int

  public init(device: String, name: String, sampleRate: Int, channels: Int) {
    self.device = device
    self.name = name
    self.sampleRate = sampleRate
    self.channels = channels
  }
}
