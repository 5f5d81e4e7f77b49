/// Why a message of the other side was not followed. It changed nothing.
public enum SignalingRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is no signed message; the text names the rule.
  case malformed(String)
  /// The node has no pair record here.
  case notPaired(String)
  /// Its pair record's time is over.
  case expired(String)
  case badSignature
  /// Signed by another node than it says to be from, or by another than the one this session is with.
  case wrongSender
  /// For another node.
  case wrongRecipient
  case wrongSession
  /// The challenge is not the one that the room gave to the client which sends it.
  case wrongChallenge
  /// The session has been seen before.
  case replayed
  /// It makes no sense from this side or at this time.
  case unexpected
  /// The description does not parse.
  case badDescription(String)
  /// More sessions than one parent, or all together, may have.
  case tooManySessions
  case tooManyCandidates

  public var description: String {
    switch self {
    case .malformed(let reason): "no signed message: \(reason)"
    case .notPaired(let id): "\(id) is not paired"
    case .expired(let id): "the pairing of \(id) has expired"
    case .badSignature: "the signature is not the paired node's"
    case .wrongSender: "the message is signed by another node than it says to be from"
    case .wrongRecipient: "the message is for another node"
    case .wrongSession: "the message belongs to another session"
    case .wrongChallenge: "the message answers another challenge"
    case .replayed: "the session has been seen before"
    case .unexpected: "the message makes no sense here"
    case .badDescription(let reason): "the description cannot be read: \(reason)"
    case .tooManySessions: "too many sessions"
    case .tooManyCandidates: "too many candidates"
    }
  }
}
