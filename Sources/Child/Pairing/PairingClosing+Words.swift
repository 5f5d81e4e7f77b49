internal import Pairing

extension PairingEvent.Closing {
  /// For display.
  var words: String {
    switch self {
    case .paired: "a parent has paired"
    case .tooManyWrongCodes: "three wrong codes were tried"
    case .timeIsUp: "five minutes are over"
    case .byHand: "it was closed"
    case .issuerGone: "whoever opened it may not do so any more"
    }
  }
}
