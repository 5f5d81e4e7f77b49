/// Begins an alarm drill. `busy` while one runs or ten minutes after the last one, `unavailable` when no paired parent watches.
public struct DrillStart: ControlCommand {
  public typealias Reply = DrillDocument
  public static let name = "drill.start"
  public static let requirement: Requirement = .control
  public static let parameters: [ControlParameter] = [
    .list("stages", of: DrillDocument.Stage.allCases.map(\.rawValue))
  ]

  /// In the order of a drill, each once; nil: all of them.
  public var stages: [DrillDocument.Stage]?

  public init(_ stages: [DrillDocument.Stage]? = nil) {
    self.stages = stages
  }

  public mutating func validate() throws(ControlError) {
    stages = stages.map { given in DrillDocument.Stage.allCases.filter(given.contains) }
  }
}
