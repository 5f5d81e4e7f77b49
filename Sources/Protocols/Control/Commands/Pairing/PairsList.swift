/// Who is paired.
public struct PairsList: ControlCommand {
  public typealias Reply = [PairDocument]
  public static let name = "pairs.list"
  public static let requirement: Requirement = .admin
  public init() {}
}
