public import JSON
public import Pairing

/// A command of the control channel: its name, what it needs, its parameters and its reply. One type for each, in `Commands`;
/// `ControlCommands.all` has them all. interfaces/wire.md, "Data channel".
public protocol ControlCommand: Codable, Hashable, Sendable {
  associatedtype Reply: ControlReply = Done

  /// On the wire.
  static var name: String { get }
  /// The permissions that it needs.
  static var requirement: Requirement { get }
  /// What a child has to have for it; nil: every child knows it.
  static var device: ControlDevice? { get }
  /// What each parameter may be, in the order in which they are checked. No other is accepted.
  static var parameters: [ControlParameter] { get }
  /// How often one pairing or token may give it; nil: as often as any command.
  static var rate: ControlRate? { get }

  /// The permissions that it needs with these parameters.
  var requirement: Requirement { get }
  /// Checks parameters that depend on each other. Throws `bad-parameters`.
  mutating func validate() throws(ControlError)
}

extension ControlCommand {
  public static var device: ControlDevice? { nil }
  public static var parameters: [ControlParameter] { [] }
  public static var rate: ControlRate? { nil }
  public var requirement: Requirement { Self.requirement }
  public func validate() throws(ControlError) {}

  /// Reads the parameters strictly. Throws `bad-parameters`.
  public init(parameters given: [String: JSON]) throws(ControlError) {
    var left = given
    for parameter in Self.parameters { try parameter.check(left.removeValue(forKey: parameter.name)) }
    do {
      self = try JSON.object(given).decode()
    } catch {
      throw .badParameter("parameters", "do not fit this command")
    }
    try validate()
    guard let name = left.keys.min() else { return }
    throw .badParameter(String(name.unicodeScalars.prefix(64)), "is not a parameter of this command")
  }

  /// Throws `not-permitted` unless `permissions` suffice. Called for every command, because permissions can change or
  /// expire during a session.
  public func check(_ permissions: Permissions) throws(ControlError) {
    guard !requirement.isMet(by: permissions) else { return }
    throw ControlError(.notPermitted, "\"\(Self.name)\" needs the permission \(requirement.names).")
  }
}

/// What a child can have or not.
public enum ControlDevice: CaseIterable, Sendable {
  case light, speaker, camera, recorder
}

/// A limit beside that of all commands together, by pairing or token: whoever makes session after session gets no more.
public struct ControlRate: Hashable, Sendable {
  /// How many may come at once.
  public var burst: Int
  /// After them, one more for each interval.
  public var interval: Duration
  /// For people: what `busy` says.
  public var refusal: String
  /// It is for guests and tokens alone.
  public var sparesParents = false
}

/// The permissions that a command needs.
public enum Requirement: Hashable, Sendable {
  /// None: an open session is enough.
  case session
  /// At least one of these.
  case any(Permissions)
  /// All of these.
  case all(Permissions)

  public static let control = all(.control)
  public static let admin = all(.admin)
  /// Whoever sees or hears the child.
  public static let watching = any([.view, .listen])
  /// Whoever may know how the child is.
  public static let state = any([.view, .listen, .control, .admin])
  /// An administrator can give the permission to everybody.
  public static let recordings = any([.recordings, .admin])

  public func isMet(by permissions: Permissions) -> Bool {
    switch self {
    case .session: true
    case .any(let some): !permissions.isDisjoint(with: some)
    case .all(let all): permissions.isSuperset(of: all)
    }
  }

  /// `view or control`
  fileprivate var names: String {
    switch self {
    case .session: ""
    case .any(let some): some.names.joined(separator: " or ")
    case .all(let all): all.names.joined(separator: " and ")
    }
  }
}
