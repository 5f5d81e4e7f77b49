import Wire

/// Chooses the encoder's fixed speed so that encoding keeps up with the camera on this machine. Pure: it takes the
/// encoding time of each frame and says when to change.
///
/// It steps to a faster speed within a second once frames take more than 60 % of their interval, because too little is
/// then left for the rest of the process. It steps slower only after ten seconds below 25 %, and when that proves too
/// slow it waits twice as long before the next try.
public struct SpeedGovernor: Sendable {
  /// A good picture; 720p at 30 frames/s fits on the cores of recent small boards. On slower ones the governor reaches
  /// a suitable speed within seconds.
  public static let defaultSpeed = -8
  /// Beyond -10 a frame with two layers costs hardly less, but a moving picture loses 2 to 10 dB.
  public static let fastest = -10
  /// At -4 and above a frame costs half as much again for a gain below 0.1 dB.
  public static let slowest = -5

  /// libvpx's cpu-used for the encoder.
  public private(set) var speed: Int
  /// The time between two frames.
  public var frameInterval: Duration

  private static let busyShare = 0.60
  private static let overloadShare = 0.95
  private static let idleShare = 0.25
  /// Frames over which the time is averaged, and how many suffice to detect an overload.
  private static let window = 30
  private static let overloadWindow = 8
  private static let idleFrames = 300
  private static let maximumIdleFrames = 18_000

  private var sum = 0.0
  private var count = 0
  private var idleCount = 0
  private var idleNeeded = Self.idleFrames
  /// Frames since the last step to a slower speed; nil when no step is on trial.
  private var trial: Int?

  public init(frameInterval: Duration, speed: Int = Self.defaultSpeed) {
    self.frameInterval = frameInterval
    self.speed = min(Self.slowest, max(Self.fastest, speed))
  }

  /// Records one frame's encoding time; returns the new speed when it changes.
  public mutating func record(encodingTime: Duration) -> Int? {
    let interval = frameInterval.inSeconds
    guard interval > 0 else { return nil }
    // A single stall, for example when the process was not scheduled, says nothing about the speed.
    sum += min(2, encodingTime.inSeconds / interval)
    count += 1
    trial = trial.map { $0 + 1 }
    if trial == Self.idleFrames {
      trial = nil
      idleNeeded = Self.idleFrames
    }
    let share = sum / Double(count)
    if count >= Self.overloadWindow, share > Self.overloadShare { return step(faster: 2) }
    guard count >= Self.window else { return nil }
    sum = 0
    count = 0
    if share > Self.busyShare { return step(faster: 1) }
    idleCount = share < Self.idleShare ? idleCount + Self.window : 0
    if idleCount >= idleNeeded { return stepSlower() }
    return nil
  }

  private mutating func step(faster steps: Int) -> Int? {
    if trial != nil {
      idleNeeded = min(Self.maximumIdleFrames, idleNeeded * 2)
      trial = nil
    }
    return change(to: max(Self.fastest, speed - steps))
  }

  private mutating func stepSlower() -> Int? {
    guard let changed = change(to: min(Self.slowest, speed + 1)) else { return nil }
    trial = 0
    return changed
  }

  private mutating func change(to newSpeed: Int) -> Int? {
    sum = 0
    count = 0
    idleCount = 0
    guard newSpeed != speed else { return nil }
    speed = newSpeed
    return newSpeed
  }
}
