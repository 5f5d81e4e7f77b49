/// Plays a lullaby.
public struct LullabyPlay: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.play"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public static let parameters: [ControlParameter] = [
    .text("track"), .whole("volume", in: ControlLimits.volume), .whole("seconds", in: ControlLimits.lullabySeconds),
    .flag("loop"), .whole("fadeSeconds", in: ControlLimits.fadeSeconds),
  ]

  /// Nil: the last one played, else the first.
  public var track: String?
  /// Percent; nil keeps the previous volume.
  public var volume: Int?
  /// Seconds until it ends; 0: it does not end by itself.
  public var seconds: Int?
  /// Start over at the end of the track.
  public var loop: Bool?
  /// Length of the fade-out at the end.
  public var fadeSeconds: Int?

  public init(
    track: String? = nil, volume: Int? = nil, seconds: Int? = nil, loop: Bool? = nil, fadeSeconds: Int? = nil
  ) {
    self.track = track
    self.volume = volume
    self.seconds = seconds
    self.loop = loop
    self.fadeSeconds = fadeSeconds
  }
}
