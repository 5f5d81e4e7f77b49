/// Why a session is over or never came to be.
enum SessionEnd: Hashable, Sendable {
  /// The next attempt may succeed. The text says what happened.
  case lost(String)
  /// Trying again as it is would not help.
  case refused(String)
  /// The child says, signed, that it has no pair record of us any more.
  case unpaired

  var text: String {
    switch self {
    case .lost(let text), .refused(let text): text
    case .unpaired: "the child has ended the pairing; pair again with `cradle-parent pair`"
    }
  }
}
