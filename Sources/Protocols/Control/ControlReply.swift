/// What a command is answered: the parameters of `ok`.
public protocol ControlReply: Codable, Hashable, Sendable {
  /// The parameter that holds all of it; nil: its members are the parameters.
  static var member: String? { get }
  /// The same with half of its list; nil when nothing can be left out. Messages have a maximum size, lists do not.
  var shortened: Self? { get }
  /// Whether its numbers go together; each has been checked for itself.
  var isPossible: Bool { get }
}

extension ControlReply {
  public static var member: String? { nil }
  public var shortened: Self? { nil }
  public var isPossible: Bool { true }

  fileprivate func encodeParameters(to encoder: any Encoder) throws {
    if let member = Self.member { try [member: self].encode(to: encoder) } else { try encode(to: encoder) }
  }
}

/// The reply without parameters.
public struct Done: ControlReply {
  public init() {}
}

/// An element of a reply that is a list.
public protocol ListedDocument: Codable, Hashable, Sendable {
  /// The parameter that holds the list.
  static var listMember: String { get }
}

extension Array: ControlReply where Element: ListedDocument {
  public static var member: String? { Element.listMember }
  /// Keeps the first ones. Events are sorted by time: another request with `since` returns the rest.
  public var shortened: [Element]? { firstHalf }
}

/// A reply, with the command that it is for.
public struct ControlAnswer: Equatable, Encodable, Sendable {
  public let command: any ControlCommand.Type
  public private(set) var reply: any ControlReply

  public init<Command: ControlCommand>(_ command: Command.Type, _ reply: Command.Reply) {
    self.command = command
    self.reply = reply
  }

  public static func == (left: ControlAnswer, right: ControlAnswer) -> Bool {
    left.command == right.command && AnyHashable(left.reply) == AnyHashable(right.reply)
  }

  public func encode(to encoder: any Encoder) throws { try reply.encodeParameters(to: encoder) }

  /// The same with half of its list; nil when nothing can be left out.
  public var shortened: ControlAnswer? {
    guard let shorter = reply.shortened else { return nil }
    var answer = self
    answer.reply = shorter
    return answer
  }
}

extension Array {
  var firstHalf: [Element]? { isEmpty ? nil : Array(prefix(count / 2)) }
  var lastHalf: [Element]? { isEmpty ? nil : Array(suffix(count / 2)) }
}
