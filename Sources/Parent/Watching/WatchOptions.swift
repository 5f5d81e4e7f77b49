public import Devices
public import Server
public import Signaling

/// A WHEP server to watch.
public struct WHEPSource: Sendable {
  /// The endpoint.
  public var url: HTTPURL
  /// Bearer token; goes to the endpoint's origin alone.
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

/// What to watch, and what to do with it.
public struct WatchOptions: Sendable {
  public enum Source: Sendable {
    case whep(WHEPSource)
    case child(PairedChild)
  }

  public var source: Source
  public var wantsVideo = true
  public var wantsAudio = true
  /// Where sound is played; nil: nowhere, it is decoded for its level alone.
  public var speaker: SpeakerDevice?
  /// A WebM file to record into; it must not exist.
  public var recording: String?
  /// A JPEG file for the last picture, written on leaving; one that exists is replaced.
  public var snapshot: String?

  public init(_ source: Source) {
    self.source = source
  }
}

/// What a person wants to know at once. The text is a whole sentence without its full stop.
public struct WatchNotice: Sendable, Hashable {
  public enum Kind: String, Sendable {
    /// The link is up, or up again.
    case connected
    /// The link is weak or lost; it is worked on.
    case trouble
    case information
  }

  public var kind: Kind
  public var text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
