public import Wire

/// A form in which sound is sent.
public enum SoundFormat: Hashable, Sendable {
  /// As the microphone's encoder makes it.
  case opus
  /// MPEG-1 Layer III, for players that know no Opus.
  case mp3
  /// G.711 µ-law at 8 kHz, for those that know nothing else.
  case pcmu

  /// Those that are made of the microphone's sound beside Opus.
  public static let converted: [SoundFormat] = [.mp3, .pcmu]
}

/// Sound in another form than Opus, as it comes.
public struct ConvertedSound: Sendable {
  public var format: SoundFormat
  /// Whole frames.
  public var data: [UInt8]
  /// Of the block that completed them.
  public var captureTime: Instant
  public var samplePosition: UInt64

  public init(format: SoundFormat, data: [UInt8], captureTime: Instant, samplePosition: UInt64) {
    self.format = format
    self.data = data
    self.captureTime = captureTime
    self.samplePosition = samplePosition
  }
}
