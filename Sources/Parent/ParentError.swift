/// Why something could not be done, for a person: what is wrong, and what to try.
public struct ParentError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String
  /// Retrying without a change would not help.
  public var isFinal: Bool

  public init(_ description: String, isFinal: Bool = true) {
    self.description = description
    self.isFinal = isFinal
  }

  init(_ end: SessionEnd) {
    switch end {
    case .lost, .stopped: self.init(end.text, isFinal: false)
    case .refused, .unpaired: self.init(end.text)
    }
  }
}
