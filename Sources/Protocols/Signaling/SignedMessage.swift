public import Pairing
internal import Wire

/// One message from peer to peer, carried through a room inside a compact JWS. INTERFACES.md, "Rooms".
///
/// The whole SDP is signed by the identity key that pairing made known, and with it the DTLS fingerprint. Whoever stands
/// between (with another TLS certificate, or as the room server itself) reads, drops or delays messages; to put
/// another fingerprint in, a signature of that key is needed. So media and control are encrypted for the paired peer
/// alone, whatever the way of the messages.
public struct SignedMessage: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// A session is asked for; by parents only.
    case offer(sdp: String)
    case answer(sdp: String)
    /// An ICE restart within the session: an offer of new credentials and candidates, as the text of a
    /// `TrickleFragment`.
    case restart(fragment: String)
    case restarted(fragment: String)
    /// Attribute text from `candidate:` on, and the media section it was found for.
    case candidate(String, sdpMid: String?)
    case endOfCandidates
    case bye(ByeReason)
  }

  /// Ids of the two nodes: 16 lower-case hexadecimal digits.
  public var from: String
  public var to: String
  /// 128 random bits of the parent, base64url. One media session has one.
  public var session: String
  /// What the room gave the parent when it registered, just before it made the offer. The same in all messages of the
  /// session, both ways.
  public var challenge: String
  /// Counts the ICE restarts of the session, so that candidates of one ICE session are not taken for another's.
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

  /// A signed message's text at most: with what the room adds it has to fit into one frame of 64 KiB.
  public static let maximumBytes = 64 * 1024 - 512

  /// More restarts than a session of weeks has.
  public static let maximumRevision = 1_000_000

  /// Whether text is the id of a node.
  public static func isNodeID(_ text: String) -> Bool {
    text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Whether text can be a session: 128 bits.
  public static func isSession(_ text: String) -> Bool {
    text.utf8.count == 22 && Base64URL.decode(text) != nil
  }

  /// Whether text can be a challenge: 96 bits at least.
  public static func isChallenge(_ text: String) -> Bool {
    (16...64).contains(text.utf8.count) && Base64URL.decode(text) != nil
  }
}

/// Why a side ends a session.
public enum ByeReason: String, Hashable, Sendable {
  case left
  /// There is no pair record any more. Sent by the side that removed it.
  case notPaired = "not-paired"
  /// The pair record's time is over.
  case expired
  /// As many sessions as the child takes are open.
  case busy
  /// The offer cannot be answered.
  case notAcceptable = "not-acceptable"
  /// The program stops.
  case goingAway = "going-away"
}

/// The other node as pairing left it.
public struct PairedPeer: Hashable, Sendable {
  /// 16 lower-case hexadecimal digits.
  public var id: String
  /// DER SubjectPublicKeyInfo of its identity key (RFC 5280 section 4.1.2.7).
  public var publicKeySPKI: [UInt8]
  public var permissions: Permissions
  /// The record's time is over.
  public var isExpired: Bool

  public init(id: String, publicKeySPKI: [UInt8], permissions: Permissions, isExpired: Bool = false) {
    self.id = id
    self.publicKeySPKI = publicKeySPKI
    self.permissions = permissions
    self.isExpired = isExpired
  }
}
