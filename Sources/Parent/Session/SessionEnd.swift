/// Why a session ended or could not begin.
enum SessionEnd: Hashable, Sendable {
  /// The next attempt may succeed. The text says what happened.
  case lost(String)
  /// The child says, in a signed message, that it stops as planned. The next attempt may succeed.
  case stopped(String)
  /// Retrying without a change would not help.
  case refused(String)
  /// The child says, in a signed message, that it has no pair record of this parent any more.
  case unpaired

  var text: String {
    switch self {
    case .lost(let text), .stopped(let text), .refused(let text): text
    case .unpaired: "the camera has ended the pairing; pair again with `cradle-parent pair`"
    }
  }

  /// The text of an end after which trying again may help.
  var passing: String? {
    switch self {
    case .lost(let text), .stopped(let text): text
    case .refused, .unpaired: nil
    }
  }
}
