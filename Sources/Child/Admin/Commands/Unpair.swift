public import Control

/// `cradle-child unpair`: the pairs that were removed.
public struct Unpair: DaemonCommand {
  public typealias Reply = PairList

  public static let name = "unpair"
  public static let parameters: [ControlParameter] = [.text("parent", bytes: anyText)]

  /// By id or name; nil: all, along with every invitation and the window.
  public var parent: String?

  public init(_ parent: String?) {
    self.parent = parent
  }
}
