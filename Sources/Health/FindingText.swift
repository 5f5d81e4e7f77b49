/// Findings in columns for a terminal: state, label, detail, and the remedy below.
public struct FindingText {
  /// Characters in a line; nil: no limit, for files and other programs.
  private let width: Int?
  private let isColoured: Bool
  private let label: Int

  private static let stateWidth = 9
  private static let longestLabel = 20
  /// With less room than this, text is not wrapped.
  private static let leastText = 24

  /// - Parameters:
  ///   - labels: what the findings will be about, as far as it is known; decides the width of the second column.
  public init(width: Int?, isColoured: Bool, labels: some Sequence<String>) {
    self.width = width
    self.isColoured = isColoured
    label = min(Self.longestLabel, labels.map(\.count).max() ?? 0)
  }

  /// Without a line feed at the end.
  public func lines(_ finding: Finding) -> String {
    let indent = Self.stateWidth + label + 4
    let word = Self.word(finding.state)
    var text = coloured(Self.padded(word, to: Self.stateWidth), finding.state) + "  "
    text += Self.padded(finding.what, to: label)
    // A label that is longer than its column gets a line of its own.
    text += finding.what.count > label ? "\n" + String(repeating: " ", count: indent) : "  "
    let margin = "\n" + String(repeating: " ", count: indent)
    text += wrapped(finding.detail, room: width.map { $0 - indent }).joined(separator: margin)
    // Never wrapped, so that it can be copied; indented less, to have more room.
    if let remedy = finding.remedy {
      text += "\n" + String(repeating: " ", count: Self.stateWidth + 2) + dimmed("fix: ") + remedy
    }
    return text
  }

  private static func word(_ state: Finding.State) -> String {
    state.rawValue
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Broken between words.
  private func wrapped(_ text: String, room: Int?) -> [String] {
    guard let room, room >= Self.leastText else { return [text] }
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= room {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.isEmpty ? [""] : lines
  }

  private func coloured(_ text: String, _ state: Finding.State) -> String {
    guard isColoured else { return text }
    let colour =
      switch state {
      case .ok: "32"
      case .warning: "33"
      case .problem: "1;31"
      case .unknown: "2"
      }
    return "\u{1b}[\(colour)m\(text)\u{1b}[0m"
  }

  private func dimmed(_ text: String) -> String {
    isColoured ? "\u{1b}[2m\(text)\u{1b}[0m" : text
  }
}
