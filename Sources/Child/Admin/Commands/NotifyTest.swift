public import Control

/// `cradle-child notify --test`: answers when every test message has been delivered or not.
public struct NotifyTest: DaemonCommand {
  public typealias Reply = NotifyTests

  public static let name = "notify.test"
  public static let parameters: [ControlParameter] = [.text("name", bytes: anyText)]

  /// The notifier's; nil: all.
  public var name: String?

  public init(name: String? = nil) {
    self.name = name
  }
}

/// `notify --test --json`.
public struct NotifyTests: ControlReply {
  public var tests: [Row]

  public struct Row: Codable, Hashable, Sendable {
    /// The notifier's.
    public var name: String
    public var delivered: Bool
    /// What came of it, for people.
    public var detail: String
    public var milliseconds: Int
  }
}
