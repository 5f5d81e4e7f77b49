/// What a message and its parameters may measure. Beyond: `bad-message` or `bad-parameters`.
public enum ControlLimits {
  /// Of one message either way, in bytes. INTERFACES.md, "Data channel".
  public static let messageBytes = 16 * 1024
  /// The name of the data channel's subprotocol.
  public static let protocolName = "cradle.control.v1"
  /// The label of the data channel.
  public static let channelLabel = "control"
  /// Of an `id`, in Unicode scalars.
  public static let idLength = 64
  /// Of a track, a camera, a light or a person's name, in bytes.
  public static let nameBytes = 1...128
  /// Percent.
  public static let brightness = 0...100
  /// Until a light goes out, in seconds: at most a day.
  public static let lightSeconds = 1...86_400
  public static let flashTimes = 1...100
  /// Of one flash, and of the pause behind it. No more than three flashes a second, WCAG 2.3.1.
  public static let flashMilliseconds = 200...5000
  /// Percent.
  public static let volume = 0...100
  /// Until a lullaby ends, in seconds; 0: it does not end by itself.
  public static let lullabySeconds = 0...86_400
  /// How long a lullaby takes to go quiet, in seconds.
  public static let fadeSeconds = 0...600
  /// JPEG quality.
  public static let quality = 1...100
  /// Of the events in one reply.
  public static let eventLimit = 1...200
  /// Sequence numbers: what a JSON number holds exactly, RFC 8259 section 6.
  public static let sequence = 0...(1 << 53)
  /// How long a guest may stay, in seconds: a minute to thirty days.
  public static let inviteSeconds = 60...2_592_000
  /// Of a picture that a parent takes in, in bytes.
  public static let transferBytes = 16 * 1024 * 1024
  /// Of the viewers that a state names; more are there, but go unnamed.
  public static let viewersInState = 32
}

/// What a command means that says nothing.
public enum ControlDefaults {
  /// Seen by who looks up, over before it annoys.
  public static let flashTimes = 3
  public static let flashMilliseconds = 500
  /// Percent. Heard beside the cot, not across the house.
  public static let volume = 40
  /// Sleep machines are not to run all night: Pediatrics 2014;133(4):677.
  public static let lullabySeconds = 30 * 60
  /// Slow enough that the silence wakes nobody.
  public static let fadeSeconds = 30
  /// JPEG quality: no difference that a parent sees, half the size of 95.
  public static let quality = 85
  /// About what a screen shows.
  public static let eventLimit = 50
  /// An evening with the babysitter.
  public static let inviteSeconds = 8 * 3600
}

extension ClosedRange {
  /// The value itself, or the bound that it is beyond.
  func nearest(to value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
