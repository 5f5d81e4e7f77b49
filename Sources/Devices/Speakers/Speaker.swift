public import DeviceNames
public import Wire

/// A speaker that is open and ready to play; it delivers its playback progress ten times a second.
public typealias Speaker = MediaSource<SpeakerInfo, PlaybackProgress>

/// Keeps a speaker playing: opens it, reopens it when it fails, and keeps trying while it is missing.
public typealias SpeakerSupervisor = DeviceSupervisor<SpeakerInfo, PlaybackProgress>

/// Supplies a speaker's next samples: fills the array with 10 ms of 48 kHz mono.
///
/// `heardAt` is when the first of them will be heard, as far as the device knows. Called on the playback thread, so it
/// must not block: no I/O, and locks held only briefly. Not called while a speaker is missing.
public typealias PlaybackPull = @Sendable (_ samples: inout [Int16], _ heardAt: Instant) -> Void

/// The block size of playback.
public enum PlaybackFormat {
  /// 10 ms at 48 kHz.
  public static let samplesPerBlock = 480
}

/// Describes an open speaker.
public struct SpeakerInfo: Hashable, Sendable {
  /// The ALSA name opened in the end, a path, or "null".
  public var device: String
  /// The device's human-readable name.
  public var name: String
  /// The channels it was opened with (ALSA may convert).
  public var channels: Int
  /// Sound buffered in the device: the delay that playback adds.
  public var latency: Duration
}

/// How far a speaker has played.
public struct PlaybackProgress: Hashable, Sendable {
  /// The time of this report.
  public var time: Instant
  /// Samples written to the device since it was opened.
  public var framesWritten: UInt64
  /// How many of them had not been heard yet. (written - queued) over time is the sound card's actual rate.
  public var framesQueued: Int
  /// Underruns and suspends since it was opened.
  public var interruptions: Int
}

extension DeviceSupervisor where Info == SpeakerInfo, Element == PlaybackProgress {
  /// `pull` is called by one speaker at a time.
  public convenience init(_ device: SpeakerDevice, pull: @escaping PlaybackPull) {
    let stableName = StableName()
    self.init(name: "speaker-watch") { (avoiding) throws(DeviceError) in
      guard case .pcm(let configured) = device else {
        return try Speakers.open(device, avoiding: avoiding, pull: pull)
      }
      let name = stableName.pcm(for: configured)
      let speaker = try Speakers.open(.pcm(name: name), avoiding: avoiding, pull: pull)
      stableName.remember(pcm: name)
      return speaker
    }
  }
}
