public import Control

extension ControlReply {
  /// For programs: the parameters that the child sent, on one line.
  public var json: String {
    if let member = Self.member { JSONLine.text([member: self]) } else { JSONLine.text(self) }
  }
}
