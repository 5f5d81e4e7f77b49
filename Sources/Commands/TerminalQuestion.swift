internal import Glibc

/// A question that is answered by y or n.
public enum TerminalQuestion {
  /// Whether the answer is no. Enter is a yes; where there is no terminal to ask at, or the input ends, nobody has said no.
  public static func isDenied(_ question: String) -> Bool {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return false }
    while true {
      print("\(question) [Y/n]", terminator: " ")
      fflush(nil)
      guard let answer = readLine(strippingNewline: true) else {
        print()
        return false
      }
      switch answer.lowercased().filter({ !$0.isWhitespace }) {
      case "", "y", "yes": return false
      case "n", "no": return true
      default: continue
      }
    }
  }
}
