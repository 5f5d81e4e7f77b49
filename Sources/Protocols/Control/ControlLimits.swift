/// Limits for messages and their parameters. Anything beyond them is `bad-message` or `bad-parameters`.
public enum ControlLimits {
  /// Size of one message in either direction, in bytes. interfaces/wire.md, "Data channel".
  public static let messageBytes = 16 * 1024
  /// Messages that a viewer may send in one burst; a page needs a few at startup, a person fewer.
  public static let orderBurst = 40
  /// After a burst, one more message is accepted per interval: ten a second.
  public static let orderInterval = Duration.milliseconds(100)
  /// The name of the data channel's subprotocol.
  public static let protocolName = "cradle.control.v1"
  /// The label of the data channel.
  public static let channelLabel = "control"
  /// Length of an `id`, in Unicode scalars.
  public static let idLength = 64
  /// Length of the name of a track, camera, light or person, in bytes.
  public static let nameBytes = 1...128
  /// Length of the name of a camera that viewers see, in bytes.
  public static let titleBytes = 1...64
  /// Percent.
  public static let brightness = 0...100
  /// Seconds until a light goes out: at most a day.
  public static let lightSeconds = 1...86_400
  public static let flashTimes = 1...100
  /// Milliseconds of one flash, and of the pause after it. No more than three flashes a second, WCAG 2.3.1.
  public static let flashMilliseconds = 200...5000
  /// Percent.
  public static let volume = 0...100
  /// Seconds until a lullaby ends; 0: as late as the child lets it.
  public static let lullabySeconds = 0...86_400
  /// Seconds that a lullaby takes to fade out.
  public static let fadeSeconds = 0...600
  /// JPEG quality.
  public static let quality = 1...100
  /// Number of events in one reply.
  public static let eventLimit = 1...200
  /// Seconds since 1970-01-01 UTC: to the year 9999.
  public static let unixSeconds = 0.0...253_402_300_799.0
  /// Seconds that one report covers: at most a leap year.
  public static let reportSeconds = 60.0...31_622_400.0
  /// dB relative to full scale.
  public static let noiseDb = -100.0...0.0
  /// Length of the kind of an alarm, in bytes.
  public static let alarmKindBytes = 1...32
  /// Numbers of proofs of hearing.
  public static let hearingNumber = 1...1_000_000_000
  /// Of a chirp in the sound of its band.
  public static let hearingShare = 0.0...1.0
  /// Sequence numbers: integers that a JSON number holds exactly, RFC 8259 section 6.
  public static let sequence = 0...(1 << 53)
  /// Length of the address of a push subscription, in bytes; those of browsers have about 200.
  public static let pushEndpointBytes = 1...1024
  /// Length of a key of a push subscription, base64url, in bytes.
  public static let pushKeyBytes = 1...128
  public static let pushContactBytes = 1...256
  /// Seconds that a guest has access: a minute to thirty days.
  public static let inviteSeconds = 60...2_592_000
  /// Size of a picture that a parent accepts, in bytes.
  public static let transferBytes = 16 * 1024 * 1024
  /// A piece of a recording, in bytes.
  public static let recordingPieceBytes = 1 << 20
  /// An offset in a recording, in bytes.
  public static let recordingOffset = 0...(1 << 50)
  /// Number of viewers listed in a state; any further ones are left out.
  public static let viewersInState = 32
}

/// Values for parameters that a command leaves out.
public enum ControlDefaults {
  /// Percent of a light whose brightness nobody has set: enough to find the dummy, too little to wake the baby.
  public static let brightness = 20
  /// Enough to be noticed, over before it annoys.
  public static let flashTimes = 3
  public static let flashMilliseconds = 500
  /// JPEG quality: looks the same as 95 at half the size.
  public static let quality = 85
  /// What `watch --vox` takes for a voice in the next room's microphone.
  public static let noiseDb = -45.0
  /// About a screenful.
  public static let eventLimit = 50
  /// An evening with the babysitter.
  public static let inviteSeconds = 8 * 3600
}

extension ClosedRange {
  /// The value, clamped to the range.
  func nearest(to value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
