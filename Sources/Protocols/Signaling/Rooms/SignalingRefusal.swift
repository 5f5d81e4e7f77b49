/// Why a message of the other side was refused. It changed nothing.
public enum SignalingRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not a signed message; the text names the rule.
  case malformed(String)
  /// The node has no pair record here.
  case notPaired(String)
  /// Its pair record has expired.
  case expired(String)
  case badSignature
  /// Signed by another node than the named sender, or than this session's.
  case wrongSender
  /// For another node.
  case wrongRecipient
  case wrongSession
  /// Not the challenge that the room gave to the client that sends it.
  case wrongChallenge
  /// The session has been seen before.
  case replayed
  /// A child's presence has expired by our clock.
  case tooOld
  /// Not allowed from this side or in this state.
  case unexpected
  /// The description does not parse.
  case badDescription(String)
  /// More sessions than one parent, or all together, may have.
  case tooManySessions
  case tooManyCandidates

  /// The same for all of one kind, whatever the other side has written.
  public var kind: String {
    switch self {
    case .malformed: "malformed"
    case .notPaired: "not-paired"
    case .expired: "expired"
    case .badDescription: "bad-description"
    case .badSignature, .wrongSender, .wrongRecipient, .wrongSession, .wrongChallenge, .replayed, .tooOld, .unexpected,
      .tooManySessions, .tooManyCandidates:
      description
    }
  }

  public var description: String {
    switch self {
    case .malformed(let reason): "not a signed message: \(reason)"
    case .notPaired(let id): "\(id) is not paired"
    case .expired(let id): "the pairing of \(id) has expired"
    case .badSignature: "the signature is not the paired node's"
    case .wrongSender: "the message is signed by another node than its sender"
    case .wrongRecipient: "the message is for another node"
    case .wrongSession: "the message belongs to another session"
    case .wrongChallenge: "the message answers another challenge"
    case .replayed: "the session has been seen before"
    case .tooOld: "it has expired, or the clock of this machine is wrong"
    case .unexpected: "the message is not expected here"
    case .badDescription(let reason): "the description cannot be read: \(reason)"
    case .tooManySessions: "too many sessions"
    case .tooManyCandidates: "too many candidates"
    }
  }
}
