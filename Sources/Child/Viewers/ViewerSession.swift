internal import Control
internal import Frames
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import Server
internal import Signaling
internal import VideoFormats
internal import Wire

/// One viewer, from its offer to its end: identity, permissions, what it receives and what it has asked for.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ViewerSession: @unchecked Sendable {
  /// How the offer arrived, and with which credential.
  enum Origin: Hashable, Sendable {
    /// Over WHEP, with the token of this `TokenRecord.id`.
    case whep(WHEPSessionID, token: String)
    /// Through a room, from a paired parent.
    case paired(PairedSessionID)
    /// Without an offer: a player of HTTP or RTSP, with the token of this `TokenRecord.id`.
    case stream(token: String)

    var credential: Credential {
      switch self {
      case .whep(_, let token): .token(id: token)
      case .paired(let session): .pair(id: session.parent)
      case .stream(let token): .token(id: token)
      }
    }
  }

  /// A still or a piece of a recording on its way to the viewer. One at a time.
  enum Transfer {
    case none
    /// The camera and the JPEG encoder are working on it, or the disk.
    case beingMade
    case sending(TransferSender)
  }

  let peer: PeerID
  /// Where its media go; nil: to the peer connection.
  let outlet: (any MediaOutlet)?
  let origin: Origin
  /// The token's or the pair record's name.
  let name: String
  /// Those of the credential now: they may shrink, grow or expire while the session is open.
  var permissions: Permissions
  /// Index in the configuration.
  var camera: Int
  /// The negotiated tracks; a viewer that only sends commands has neither.
  private let hasPictureTrack: Bool
  private let hasSoundTrack: Bool
  /// Of its picture.
  let codec: VideoCodec
  /// Sentences about what its offer asks for and it does not get.
  let problems: [String]
  let since: Instant
  /// From where the offer came.
  let reach: NetworkReach
  /// The connection has been up at least once.
  var isConnected = false
  /// When the connection came up for the first time.
  var connectedAt: Instant?
  /// Which of the camera's pictures it is sent.
  var route = PictureRoute()
  /// Which of the microphone's encodings.
  var soundRoute: SoundRoute
  /// How much it wants to be sent.
  let limits: SendingLimits
  /// The key frame that was last asked for in its name, to change to a rendition.
  var keyFrameRequest: (rendition: Rendition, at: Instant)?
  /// It asks for a key frame by RTCP when it needs one: it has done so, or is known to.
  var asksForKeyFrames = false
  /// Estimated capacity of its path.
  var estimateKbps: Int?
  /// Sent to it when that was counted last.
  var countedBytes: UInt64 = 0
  /// Nothing came from it any more, so the session was given up.
  var isLinkLost = false
  /// What an alarm drill cuts off from it.
  var withheld: DrillDocument.Stage?
  /// Why we ended it; nil while it is open, or if it left by itself.
  var endReason: ByeReason?

  /// The stream of the `control` data channel, once open.
  var controlChannel: UInt16?
  /// When everything was last sent to it.
  var greetedAt: Instant?
  var transfer = Transfer.none
  /// Has a single bucket, for this viewer.
  private var orders = RateLimiter<PeerID>(
    burst: ControlLimits.orderBurst, interval: ControlLimits.orderInterval, maximumKeys: 1)
  /// It has used `talk.acquire`, so sound it sends without the floor is not meant to be played.
  var hasAskedForFloor = false

  init(
    peer: PeerID, origin: Origin, name: String, permissions: Permissions, camera: Int, hasPictureTrack: Bool,
    hasSoundTrack: Bool, codec: VideoCodec = .vp8, limits: SendingLimits = SendingLimits(), problems: [String] = [],
    since: Instant,
    reach: NetworkReach, outlet: (any MediaOutlet)? = nil
  ) {
    self.peer = peer
    self.outlet = outlet
    self.origin = origin
    self.name = name
    self.permissions = permissions
    self.camera = camera
    self.hasPictureTrack = hasPictureTrack
    self.hasSoundTrack = hasSoundTrack
    self.codec = codec
    self.limits = limits
    soundRoute = SoundRoute(limitKbps: limits.soundKbps)
    self.problems = problems
    self.since = since
    self.reach = reach
  }

  /// This session's id for parents: `viewer` in `hello`, `id` in `state`.
  var id: String { "\(peer)" }

  /// The pair record's id; nil with a token.
  var pair: String? {
    if case .paired(let session) = origin { session.parent } else { nil }
  }

  var seesPicture: Bool { hasPictureTrack && permissions.contains(.view) }
  var hearsSound: Bool { hasSoundTrack && permissions.contains(.listen) }
  /// It gets the sound in this form.
  func hears(_ format: SoundFormat) -> Bool { hearsSound && outlet?.soundFormat ?? .opus == format }
  /// Its path carries so little that what is sent beside sound and picture is at their cost.
  var isOnNarrowPath: Bool { soundRoute.target == .narrow }
  /// As far as is known.
  var neverAsksForKeyFrames: Bool { !asksForKeyFrames && seesPicture }
  /// It receives picture or sound, or did until it left.
  var isWatching: Bool { isConnected && (seesPicture || hearsSound) }

  /// Counts one message on the control channel. False when the rate limit is exceeded.
  func countOrder(at now: Instant) -> Bool {
    orders.admit(peer, now: now) == .admitted
  }
}
