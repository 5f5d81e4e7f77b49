/// What a key does while watching: the same in the window and on the terminal.
public enum WatchKey: Character, CaseIterable, Sendable {
  case talk = " "
  case light = "l"
  case lullaby = "n"
  case camera = "c"
  case screenshot = "s"
  case mute = "m"
  case steady = "b"
  case acknowledge = "a"
  case testAlarm = "t"
  case testHearing = "h"
  case drill = "d"
  case room = "r"
  case fullScreen = "f"
  case small = "p"
  case help = "?"
  case quit = "q"

  /// The key, as help names it.
  public var name: String {
    switch self {
    case .talk: "space"
    default: String(rawValue)
    }
  }

  /// What a button of the window that does the same says; nil where there is none.
  public var title: String? {
    switch self {
    case .talk: "Hold to talk"
    case .light: "Light"
    case .lullaby: "Lullaby"
    case .screenshot: "Photo"
    case .mute: "Mute"
    case .acknowledge: "I'm on it"
    case .help: "Keyboard shortcuts"
    case .camera, .steady, .testAlarm, .testHearing, .drill, .room, .fullScreen, .small, .quit: nil
    }
  }

  /// Those that are of use where several rooms are watched at once.
  public var isForRooms: Bool { self == .room }

  /// Those that only a window has.
  public var isForWindows: Bool { self == .fullScreen || self == .small }

  /// - Parameter isHeld: a window learns when a key is released, a terminal does not.
  public func meaning(isHeld: Bool) -> String {
    switch self {
    case .talk: isHeld ? "talk, while held" : "talk; once more: stop talking"
    case .light: "light on or off"
    case .lullaby: "lullaby on or off"
    case .camera: "next camera"
    case .screenshot: "save a picture"
    case .mute: "sound off or on (an alarm still rings)"
    case .steady: "smoother sound (0.4 s later)"
    case .acknowledge: "I'm on it: stop the alarm"
    case .testAlarm: "try the alarm"
    case .testHearing: "sound check: would I hear my baby?"
    case .drill: "alarm drill; twice: everybody's alarm rings"
    case .room: "next room; 1 to 9: that one"
    case .fullScreen: "full screen"
    case .small: "small window on top; drag it to an edge"
    case .help: "this help"
    case .quit: isHeld ? "quit (or Escape)" : "quit"
    }
  }
}
