/// What a window shows of a room besides the picture.
public struct WindowContent: Hashable, Sendable {
  /// Colour of the line's first mark.
  public enum Tone: Sendable {
    case good, waiting, bad
  }

  /// A message across the picture.
  public struct Banner: Hashable, Sendable {
    public var title: String
    /// Sentences below it, wrapped to the window's width.
    public var lines: [String]
    public var isAlarm: Bool
    /// Of a large button below them, which presses the key; a click anywhere does, too.
    public var button: Button?

    public init(title: String, lines: [String], isAlarm: Bool, button: Button? = nil) {
      self.title = title
      self.lines = lines
      self.isAlarm = isAlarm
      self.button = button
    }
  }

  /// Does what its key does, for as long as it is held.
  public struct Button: Hashable, Sendable {
    public var key: Character
    public var title: String
    /// Drawn as switched on.
    public var isOn: Bool

    public init(_ key: Character, _ title: String, isOn: Bool = false) {
      self.key = key
      self.title = title
      self.isOn = isOn
    }
  }

  /// Asked before the window is closed.
  public struct Question: Hashable, Sendable {
    public var text: String
    public var stay: String
    public var leave: String

    public init(_ text: String, stay: String, leave: String) {
      self.text = text
      self.stay = stay
      self.leave = leave
    }
  }

  public struct HelpRow: Hashable, Sendable {
    public var key: String
    public var meaning: String

    public init(_ key: String, _ meaning: String) {
      self.key = key
      self.meaning = meaning
    }
  }

  /// The window's name on the desktop.
  public var title: String
  /// What the room is called, and what is wrong there, where several are shown.
  public var name = ""
  public var problem: String?
  /// What is not as it could be, such as a smaller picture, there as well.
  public var note: String?
  public var tone = Tone.waiting
  /// Sound level, dB below full scale; nil: no meter.
  public var meterDb: Double?
  /// The line at the bottom, the most important part first; parts that do not fit are left out.
  public var parts: [String] = []
  /// What was just done or refused; a new one shows the line for a while.
  public var said: String?
  /// The line stays, as while somebody talks.
  public var isLinePinned = false
  public var banner: Banner?
  /// The frame of the window pulses.
  public var isRinging = false
  /// Shown while there has been no picture.
  public var waiting: [String] = []
  public var help: [HelpRow] = []
  /// Shown while the pointer moves.
  public var buttons: [Button] = []
  /// Nil: it is closed without a question.
  public var question: Question?

  public init(title: String) {
    self.title = title
  }
}

/// A key that the window leaves to its owner. Characters are lower case, as on the keyboard's own layout.
public enum WindowKey: Hashable, Sendable {
  case pressed(Character)
  case released(Character)
  /// Keys are to be for this room.
  case chose(Int)
}
