internal import Glibc
public import Health
internal import JSON
internal import Wire

/// Prints findings as they arrive, in columns and in colour on a terminal, with a progress line.
public final class FindingReport {
  public private(set) var findings: [Finding] = []
  private let isJSON: Bool
  private let isLive: Bool
  private let text: FindingText

  /// - Parameters:
  ///   - labels: what the findings will be about, as far as it is known; decides the width of a column.
  ///   - isJSON: prints one JSON object at the end, and nothing before.
  public init(labels: [String], isJSON: Bool) {
    self.isJSON = isJSON
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isLive = isTerminal && isatty(STDERR_FILENO) == 1 && !isJSON
    // no-color.org
    let isColoured = isTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    text = FindingText(width: isTerminal ? terminalWidth() : nil, isColoured: isColoured, labels: labels)
  }

  /// Says what is being checked now.
  public func looking(_ what: String) {
    say("Checking \(what) …")
  }

  /// On a terminal: shows a line that the next one replaces.
  public func say(_ line: String) {
    progress(line)
  }

  /// The same as `say`, for any thread.
  public var progress: @Sendable (String) -> Void {
    guard isLive else { return { _ in } }
    return { line in
      let bytes = Array("\r\u{1b}[K\(line)".utf8)
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
  }

  public func found(_ finding: Finding) {
    var finding = finding
    // It may quote a device or a server.
    finding.detail = String(finding.detail.unicodeScalars.printableScalars)
    findings.append(finding)
    guard !isJSON else { return }
    say("")
    print(text.lines(finding))
    fflush(nil)
  }

  /// Prints the summary, or the JSON object, which has the members of `more` as well.
  public func close(more: some Encodable = [String: String]()) {
    say("")
    if isJSON {
      var members = JSON.document(more).object ?? [:]
      members["checks"] = JSON.document(findings)
      members["ok"] = .bool(!findings.hasProblem)
      print(JSON.object(members).text)
    } else {
      print(findings.summary)
    }
  }
}
