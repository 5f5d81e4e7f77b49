public import Pairing
internal import Wire

/// One message from peer to peer, carried through a room inside a compact JWS. interfaces/wire.md, "Rooms".
///
/// The whole SDP, with the DTLS fingerprint, is signed by the identity key known from pairing. A man in the middle (with
/// another TLS certificate, or the room server itself) can read, drop or delay messages, but cannot replace the
/// fingerprint without that key. So media and control are encrypted for the paired peer alone, whatever path the messages
/// take.
public struct SignedMessage: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// Requests a session; by parents only.
    case offer(sdp: String)
    case answer(sdp: String)
    /// An ICE restart within the session: an offer of new credentials and candidates, as the text of a
    /// `TrickleFragment`.
    case restart(fragment: String)
    case restarted(fragment: String)
    /// Attribute text from `candidate:` on, and its media section.
    case candidate(String, sdpMid: String?)
    case endOfCandidates
    case bye(ByeReason)
  }

  /// Ids of the two nodes: 16 lower-case hexadecimal digits.
  public var from: String
  public var to: String
  /// 128 random bits of the parent, base64url; one for each media session.
  public var session: String
  /// The challenge of the parent's registration in the room, just before the offer. The same in all messages of the
  /// session, both ways.
  public var challenge: String
  /// Counts the ICE restarts of the session, to tell candidates of one ICE session from another's.
  public var revision: Int
  public var content: Content

  public init(from: String, to: String, session: String, challenge: String, revision: Int = 0, content: Content) {
    self.from = from
    self.to = to
    self.session = session
    self.challenge = challenge
    self.revision = revision
    self.content = content
  }

  /// The longest signed message: with what the room adds it must fit into one frame of 64 KiB.
  public static let maximumBytes = 64 * 1024 - 512

  /// More restarts than a session has in weeks.
  public static let maximumRevision = 1_000_000

  /// Whether `text` has the form of a node id.
  public static func isNodeID(_ text: String) -> Bool {
    text.utf8.count == 16 && text.utf8.allSatisfy(\.isLowercaseHexadecimal)
  }

  /// Whether `text` has the form of a session: 128 bits.
  public static func isSession(_ text: String) -> Bool {
    text.utf8.count == 22 && Base64URL.decode(text) != nil
  }

  /// Whether `text` has the form of a challenge: at least 96 bits.
  public static func isChallenge(_ text: String) -> Bool {
    (16...64).contains(text.utf8.count) && Base64URL.decode(text) != nil
  }
}

/// Why a side ends a session.
public enum ByeReason: String, Hashable, Sendable {
  case left
  /// The pair record has been removed. Sent by the side that removed it.
  case notPaired = "not-paired"
  /// The pair record has expired.
  case expired
  /// The child's limit of sessions is reached.
  case busy
  /// The offer cannot be answered.
  case notAcceptable = "not-acceptable"
  /// The program stops.
  case goingAway = "going-away"
  /// The child has removed the pair record at the parent's wish and could not store that: a restart may bring it back.
  case notStored = "not-stored"
}

/// The other node, as known from pairing.
public struct PairedPeer: Hashable, Sendable {
  /// 16 lower-case hexadecimal digits.
  public var id: String
  /// DER SubjectPublicKeyInfo of its identity key (RFC 5280 section 4.1.2.7).
  public var publicKeySPKI: [UInt8]
  public var permissions: Permissions
  /// The record has expired.
  public var isExpired: Bool

  public init(id: String, publicKeySPKI: [UInt8], permissions: Permissions, isExpired: Bool = false) {
    self.id = id
    self.publicKeySPKI = publicKeySPKI
    self.permissions = permissions
    self.isExpired = isExpired
  }
}
