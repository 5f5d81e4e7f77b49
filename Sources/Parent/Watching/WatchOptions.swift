public import DeviceNames
internal import Pairing
internal import Pipelines
public import Server
public import Signaling

/// A WHEP server to watch.
public struct WHEPSource: Sendable {
  /// The endpoint.
  public var url: HTTPURL
  /// Bearer token; sent to the endpoint's origin only.
  public var token: String?
  public var trust: HTTPTrust

  public init(url: HTTPURL, token: String?, trust: HTTPTrust) {
    self.url = url
    self.token = token
    self.trust = trust
  }

  /// The token would go over the network unencrypted: to everybody who listens there (RFC 6750 section 5.3).
  public var sendsTokenInClear: Bool {
    token != nil && url.origin.scheme == .http
      && !ChildAddress(host: url.origin.host, port: url.origin.port).isLoopback
  }
}

/// Which paths picture and sound may take.
public enum PathChoice: String, Sendable, CaseIterable {
  /// A direct one where there is one.
  case any
  case direct
  /// Through a TURN server.
  case relay
}

/// The speaker of this machine, where several rooms are heard at once.
public final class WatchSpeaker: Sendable {
  let shared: SharedSpeaker

  public init(_ device: SpeakerDevice) {
    shared = SharedSpeaker(device)
  }
}

/// What to watch, and where picture and sound go.
public struct WatchOptions: Sendable {
  public enum Source: Sendable {
    case whep(WHEPSource)
    case child(PairedChild)
  }

  public var source: Source
  /// A guest's access, or a token's.
  var isLent: Bool {
    if case .child(let child) = source { child.record.expiresAt != nil } else { true }
  }
  public var wantsVideo = true
  public var wantsAudio = true
  /// Where sound is played; nil: nowhere, and it is decoded only for its level.
  public var speaker: SpeakerDevice?
  /// That one, where others play as well.
  public var sharedSpeaker: WatchSpeaker?
  /// The child's sound is not played at first; `Watcher.setMuted` changes that. An alarm is heard all the same.
  public var isMuted = false
  /// Sound waits for `steadyDelay`, and pictures with it, so that short gaps of the network are not heard;
  /// `Watcher.setSteady` changes that.
  public var isSteady = false
  /// As on the phone page.
  public static let steadyDelay: Duration = .milliseconds(400)
  /// Only what is louder than this, dB below full scale, is played; nil: everything.
  public var vox: Double?
  /// A child that cannot be reached at the beginning is tried again, as later; else that ends watching.
  public var isPatient = false
  /// The microphone for talking; nil: nobody can talk.
  public var microphone: AudioDevice?
  /// Of the packets that are sent.
  public var marking = MediaMarking.interactiveVideo
  public var paths = PathChoice.any
  /// Where to record as WebM, see `OutputPath`; a file must not exist.
  public var recording: String?
  /// Where the last picture goes as JPEG at the end, see `OutputPath`; an existing file is replaced.
  public var snapshot: String?

  public init(_ source: Source) {
    self.source = source
  }
}

/// A message for a person. The text is a sentence without its full stop.
public struct WatchNotice: Sendable, Hashable {
  public enum Kind: String, Sendable {
    /// The link is up, or up again.
    case connected
    /// The link is weak or lost, and being restored.
    case trouble
    /// A recording or a picture that was asked for is not there, or not whole. Watching goes on.
    case failed
    case information
  }

  public var kind: Kind
  public var text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
