internal import Glibc
public import Health

/// Shows findings as they come: in columns, coloured on a terminal, with a line that says what is being looked at.
public final class FindingReport {
  public private(set) var findings: [Finding] = []
  private let isJSON: Bool
  private let isLive: Bool
  private let text: FindingText

  /// - Parameters:
  ///   - labels: what the findings will be about, as far as that is known.
  ///   - isJSON: nothing is shown before the end.
  public init(labels: [String], isJSON: Bool) {
    self.isJSON = isJSON
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isLive = isTerminal && isatty(STDERR_FILENO) == 1 && !isJSON
    // no-color.org
    let isColoured = isTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    text = FindingText(width: isTerminal ? Self.width() : nil, isColoured: isColoured, labels: labels)
  }

  /// What comes next.
  public func looking(_ what: String) {
    say("Looking at \(what) …")
  }

  /// Shows a line that the next one replaces, on a terminal.
  public func say(_ line: String) {
    progress(line)
  }

  /// The same, to be called from any thread.
  public var progress: @Sendable (String) -> Void {
    guard isLive else { return { _ in } }
    return { line in
      let bytes = Array("\r\u{1b}[K\(line)".utf8)
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
  }

  public func found(_ finding: Finding) {
    findings.append(finding)
    guard !isJSON else { return }
    say("")
    print(text.lines(finding))
    fflush(nil)
  }

  /// Shows the end: how many there were, or the JSON object, with `more` members (`,"name":…`) at its end.
  public func close(more: String = "") {
    say("")
    if isJSON {
      print("{\"checks\":\(findings.json),\"ok\":\(!findings.hasProblem)\(more)}")
    } else {
      print(findings.summary)
    }
  }

  private static func width() -> Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
