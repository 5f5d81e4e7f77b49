/// What a window shows: a room, or several.
public struct WindowRooms: Hashable, Sendable {
  /// The window's name on the desktop.
  public var title: String
  public var rooms: [WindowContent]
  /// The one that keys are for.
  public var chosen = 0
  /// Of several rooms: what rings, over all of them.
  public var alarm: WindowContent.Banner?
  /// Of several rooms: a warning below them, such as who is not among them.
  public var warning: String?

  /// - Parameter rooms: one at least.
  public init(title: String, _ rooms: [WindowContent]) {
    precondition(!rooms.isEmpty)
    self.title = title
    self.rooms = rooms
  }

  public init(_ room: WindowContent) {
    self.init(title: room.title, [room])
  }

  public var areSeveral: Bool { rooms.count > 1 }
  var room: WindowContent { rooms[chosen] }
  var isRinging: Bool { rooms.contains(where: \.isRinging) }

  /// Asked before the window is closed.
  var question: WindowContent.Question? {
    let asked = rooms.compactMap(\.question)
    guard var question = asked.first else { return nil }
    question.text = asked.map(\.text).joined(separator: " ")
    return question
  }
}
