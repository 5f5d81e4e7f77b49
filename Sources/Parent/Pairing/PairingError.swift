public import Pairing
public import Signaling

/// Why pairing failed. The description says what to try.
public enum PairingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No address answers; one reason for each.
  case unreachable([String])
  /// The child refused.
  case refused(PairingRefusal)
  /// The code is wrong, and the child knows; nil when it did not say how many tries are left.
  case wrongCode(triesLeft: Int?)
  /// What answers does not know the link's secret, so it is not the child.
  case wrongLink
  /// What answers is not a child, or one of another version.
  case notUnderstood(String)
  /// The child, or what answers in its place, failed or refused for a reason of its own.
  case failed(WHEPRefusal)
  /// The pair could not be stored here; the reason, and what became of it at the child.
  case notStored(String, Remains)
  /// The pair was removed here; the child could not be reached, and lists this parent by this id.
  case leftAtChild(id: String)

  /// What is left of a pair that could not be stored.
  public enum Remains: Hashable, Sendable {
    /// The child has removed it.
    case undone
    /// This parent was paired before, and still is.
    case stillPaired
    /// The child could not be reached, and lists this parent by this id.
    case leftAtChild(id: String)
  }

  init(_ failure: PairingFailure) {
    switch failure {
    case .wrongCode: self = .wrongCode(triesLeft: nil)
    case .wrongLink: self = .wrongLink
    case .badReply(let rule): self = .notUnderstood(rule)
    }
  }

  public var description: String {
    switch self {
    case .unreachable(let reasons):
      "the camera cannot be reached (\(reasons.joined(separator: "; "))); is it switched on and in the same network?"
    case .refused(.windowClosed): "pairing is not open; open it on the baby unit with `cradle-child pair`"
    case .refused(.unknownLink): "this link was used, has expired or never existed; ask for a new one"
    case .refused(.unknownSession): "it took too long; start again"
    case .refused(.wrongCode(let left)), .wrongCode(let left?): Self.wrongCode(left)
    case .refused(.alreadyPaired):
      "this device is paired already, and this link would take from it what it may do; unpair it first, or ask for a link "
        + "that allows at least as much for at least as long"
    case .refused(.tooManyTries(let wait)):
      "too many tries; try again in \(max(1, wait.components.seconds)) s"
    case .refused(.badMessage(let rule)): "the camera does not understand this program: \(rule)"
    case .wrongCode(nil): "the code is wrong"
    case .wrongLink: "what answers does not know this link; is the address in it still the camera's?"
    case .notUnderstood(let rule): "what answers is not a child that this program understands: \(rule)"
    case .failed(let refusal): "the camera did not pair: \(refusal)"
    case .notStored(let reason, let remains):
      switch remains {
      case .undone:
        "this device could not keep the pairing, so the camera has removed it again: \(reason). Then pair once more"
      case .stillPaired: "this device stays paired as before, but could not store what is new: \(reason)"
      case .leftAtChild(let id): "this device could not keep the pairing: \(reason). \(Self.left(id))"
      }
    case .leftAtChild(let id): Self.left(id)
    }
  }

  private static func left(_ id: String) -> String {
    "The camera could not be reached, or could not store it, and may still list this device. Remove it there: "
      + "cradle-child unpair \(id)"
  }

  private static func wrongCode(_ left: Int) -> String {
    switch left {
    case ...0: "the code is wrong, and no tries are left; get a new one with `cradle-child pair`"
    case 1: "the code is wrong; one try is left"
    default: "the code is wrong; \(left) tries are left"
    }
  }
}
