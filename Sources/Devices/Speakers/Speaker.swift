public import Wire

/// A speaker that is open and ready to play: what it delivers is how far it has got, ten times a second.
public typealias Speaker = MediaSource<SpeakerInfo, PlaybackProgress>

/// Keeps a speaker playing: opens it, opens it again when it fails, and goes on trying while it is missing.
public typealias SpeakerSupervisor = DeviceSupervisor<SpeakerInfo, PlaybackProgress>

/// Gives a speaker its next samples: 10 ms of 48 kHz mono, the array that is to be filled.
///
/// `heardAt` is when the first of them will be heard, as far as the device knows. Called on the playback thread, which
/// must not wait: no I/O in it, and locks only for moments. While a speaker is missing nobody calls it.
public typealias PlaybackPull = @Sendable (_ samples: inout [Int16], _ heardAt: Instant) -> Void

/// The portions in which sound is played.
public enum PlaybackFormat {
  /// 10 ms at 48 kHz.
  public static let samplesPerBlock = 480
  public static let blockDuration: Duration = .milliseconds(10)
}

/// What an open speaker plays through.
public struct SpeakerInfo: Hashable, Sendable {
  /// The ALSA name that was opened in the end, a path, or "null".
  public var device: String
  /// The device's own name, for people.
  public var name: String
  /// What the device was opened with (ALSA may convert behind that).
  public var channels: Int
  /// How much sound is kept in the device: what playing adds to the delay.
  public var latency: Duration

  public init(device: String, name: String, channels: Int, latency: Duration) {
    self.device = device
    self.name = name
    self.channels = channels
    self.latency = latency
  }
}

/// How far a speaker has played.
public struct PlaybackProgress: Hashable, Sendable {
  /// When this was true.
  public var time: Instant
  /// Samples given to the device since it was opened.
  public var framesWritten: UInt64
  /// How many of them had not been heard yet. (written - queued) over time is the sound card's real rate.
  public var framesQueued: Int
  /// How often the device ran dry or slept since it was opened.
  public var interruptions: Int

  public init(time: Instant, framesWritten: UInt64, framesQueued: Int, interruptions: Int) {
    self.time = time
    self.framesWritten = framesWritten
    self.framesQueued = framesQueued
    self.interruptions = interruptions
  }
}

extension DeviceSupervisor where Info == SpeakerInfo, Element == PlaybackProgress {
  /// `pull` is called by one speaker at a time.
  public convenience init(_ device: SpeakerDevice, pull: @escaping PlaybackPull) {
    self.init(name: "speaker-watch") { (avoiding) throws(DeviceError) in
      try Speakers.open(device, avoiding: avoiding, pull: pull)
    }
  }
}
