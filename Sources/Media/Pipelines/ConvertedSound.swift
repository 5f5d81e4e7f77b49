/// A form in which sound is sent.
public enum SoundFormat: Hashable, Sendable {
  /// As the microphone's encoder makes it.
  case opus
  /// MPEG-1 Layer III, for players that know no Opus.
  case mp3
}

/// Sound in another form than Opus, as it comes.
public struct ConvertedSound: Sendable {
  public var format: SoundFormat
  /// Whole frames.
  public var data: [UInt8]

  public init(format: SoundFormat, data: [UInt8]) {
    self.format = format
    self.data = data
  }
}
