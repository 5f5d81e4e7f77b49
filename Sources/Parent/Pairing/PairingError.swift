public import Pairing

/// Why nobody was paired. The description says what to try.
public enum PairingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No address answers; one reason for each.
  case unreachable([String])
  /// The child said so.
  case refused(PairingRefusal)
  /// The code is wrong, and the child has been told; nil when it did not say how many tries are left.
  case wrongCode(triesLeft: Int?)
  /// Somebody who does not know the link's secret answers in the child's place.
  case wrongLink
  /// What answers is no child, or another version of one.
  case notUnderstood(String)

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
      "the child cannot be reached (\(reasons.joined(separator: "; "))); is it switched on and in the same network?"
    case .refused(.windowClosed): "the child takes no new parent now; open pairing there with `cradle-child pair`"
    case .refused(.unknownLink): "this link was used, has expired or never was; ask for a new one"
    case .refused(.unknownSession): "it took too long; begin anew"
    case .refused(.wrongCode(let left)), .wrongCode(let left?): Self.wrongCode(left)
    case .refused(.tooManyTries(let wait)):
      "the child wants to rest between tries; try again in \(max(1, wait.components.seconds)) s"
    case .refused(.badMessage(let rule)): "the child does not understand this program: \(rule)"
    case .wrongCode(nil): "the code is wrong"
    case .wrongLink: "who answers does not know this link; is the address in it still the child's?"
    case .notUnderstood(let rule): "what answers is no child that this program understands: \(rule)"
    }
  }

  private static func wrongCode(_ left: Int) -> String {
    switch left {
    case ...0: "the code is wrong, and no try is left; get a new one with `cradle-child pair`"
    case 1: "the code is wrong; one try is left"
    default: "the code is wrong; \(left) tries are left"
    }
  }
}
