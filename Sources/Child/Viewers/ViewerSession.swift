internal import Control
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// One viewer, from its offer to its end: who it is, what it may do, what it is sent and what it has asked for.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ViewerSession: @unchecked Sendable {
  /// How the offer came, and with which credential.
  enum Origin: Hashable, Sendable {
    /// Over WHEP, with the token of this `TokenRecord.id`.
    case whep(WHEPSessionID, token: String)
    /// Through a room, from a paired parent.
    case paired(PairedSessionID)
  }

  /// A screenshot on its way to the viewer. One at a time.
  enum Screenshot {
    case none
    /// The camera and the JPEG encoder are at it.
    case beingTaken
    case sending(TransferSender)
  }

  let peer: PeerID
  let origin: Origin
  /// The token's or the pair record's name.
  let name: String
  /// As the credential has them now: they can shrink, grow or expire while the session is open.
  var permissions: Permissions
  /// Index in the configuration.
  var camera: Int
  /// The tracks that were negotiated; neither for a viewer that is here only to give an order.
  private let hasPictureTrack: Bool
  private let hasSoundTrack: Bool
  let since: Instant
  /// The connection has been up.
  var isConnected = false
  /// Its decoder has nothing to start from yet; anything but a key frame would be wasted on it.
  var awaitsKeyFrame = true
  /// What its path is estimated to carry.
  var estimateKbps: Int?
  /// Why we ended it; nil while it is open and when it left by itself.
  var endReason: ByeReason?

  /// The stream of the `control` data channel, once open.
  var controlChannel: UInt16?
  var screenshot = Screenshot.none
  /// One bucket, for this viewer.
  private var orders = RateLimiter<PeerID>(
    burst: ControlLimits.orderBurst, interval: ControlLimits.orderInterval, maximumKeys: 1)
  /// It has used `talk.acquire`: sound that it sends without the floor is not meant for the room.
  var hasAskedForFloor = false

  init(
    peer: PeerID, origin: Origin, name: String, permissions: Permissions, camera: Int, hasPictureTrack: Bool,
    hasSoundTrack: Bool, since: Instant
  ) {
    self.peer = peer
    self.origin = origin
    self.name = name
    self.permissions = permissions
    self.camera = camera
    self.hasPictureTrack = hasPictureTrack
    self.hasSoundTrack = hasSoundTrack
    self.since = since
  }

  /// What parents call this session: `viewer` in `hello`, `id` in `state`.
  var id: String { "\(peer)" }

  /// The pair record's id; nil with a token.
  var pair: String? {
    if case .paired(let session) = origin { session.parent } else { nil }
  }

  var seesPicture: Bool { hasPictureTrack && permissions.contains(.view) }
  var hearsSound: Bool { hasSoundTrack && permissions.contains(.listen) }
  /// It gets picture or sound now, or did until it left.
  var isWatching: Bool { isConnected && (seesPicture || hearsSound) }

  /// Counts one message on the control channel. False when they come too fast.
  func countOrder(at now: Instant) -> Bool {
    orders.admit(peer, now: now) == .admitted
  }
}
