/// The program that serves connections whose bytes a library in C reads: itself, started once more for each of them. What a
/// server sends may end that process, never the one that listens to the room.
public struct MeetingProgram: Sendable {
  /// A file.
  public var path: String

  /// - Parameter path: of a program whose first line calls `MeetingProcess.serveIfAsked`.
  public init(path: String) {
    self.path = path
  }

  /// The program that is running, also where its file has been replaced by a newer one: proc(5).
  public static let own = MeetingProgram(path: "/proc/self/exe")

  /// The one argument. Not for people, so no help names it.
  static let argument = "meeting-link"

  /// Named as this program, for whoever lists processes.
  var words: [String] { [CommandLine.arguments.first ?? path, Self.argument] }

  /// Variables of a daemon that say nothing to this process, or cost it memory.
  static let omittedVariables: Set = ["GLIBC_TUNABLES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
}
