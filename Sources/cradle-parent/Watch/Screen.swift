import Commands
import Glibc
import Parent
import Synchronization
import Wire

/// The terminal while watching: messages as lines, and below them one status line.
final class Screen: Sendable {
  /// Whether standard output is a terminal, which shows the status line.
  let isLive: Bool
  private let state = Mutex(State())

  private struct State {
    var line = ""
    var isClosed = false
    var bellAt: time_t = 0
  }

  init(isLive: Bool) {
    self.isLive = isLive
  }

  /// Shows a message above the status line.
  func say(_ text: String) {
    let time = timeOfDay()
    let text = printableLines(text)
    state.withLock { state in
      guard isLive, !state.isClosed else { return printError("\(time) \(text)") }
      Self.write("\r\u{1b}[K\(time) \(text)\n\(state.line)")
    }
  }

  /// Shows lines without a time above the status line, as help is.
  func show(_ lines: [String]) {
    state.withLock { state in
      guard isLive, !state.isClosed else { return }
      Self.write("\r\u{1b}[K\(lines.joined(separator: "\n"))\n\(state.line)")
    }
  }

  /// Updates the status line; rings the terminal's bell while an alarm rings.
  func show(_ view: WatchView) {
    guard isLive else { return }
    let line = StatusLine.text(view, width: terminalWidth())
    let now = time(nil)
    state.withLock { state in
      guard !state.isClosed else { return }
      state.line = line
      let rings = view.isRinging && now - state.bellAt >= 2
      if rings { state.bellAt = now }
      Self.write("\r\u{1b}[K\(line)\(rings ? "\u{07}" : "")")
    }
  }

  /// Ends the status line.
  func close() {
    state.withLock { state in
      guard isLive, !state.isClosed else { return }
      state.isClosed = true
      Self.write("\n")
    }
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// The status line, most important part first; parts that do not fit are left out.
enum StatusLine {
  static func text(_ view: WatchView, width: Int) -> String {
    var pieces = [mark(view)]
    if let level = view.levelDb { pieces.append(meter(level)) }
    if view.isRinging { pieces.append("ALARM (a: I'm on it)") }
    var line = ""
    for part in pieces + view.parts {
      let longer = line.isEmpty ? part : "\(line)  \(part)"
      guard longer.count < width else { break }
      line = longer
    }
    // White on red until somebody has seen it.
    return view.isRinging ? "\u{1b}[1;37;41m\(line)\u{1b}[0m" : line
  }

  /// Ten steps from -60 to 0 dB.
  static func meter(_ level: Double) -> String {
    let lit = min(10, max(0, Int(saturating: ((level + 60) / 6).rounded())))
    return String(repeating: "█", count: lit) + String(repeating: "·", count: 10 - lit)
  }

  private static func mark(_ view: WatchView) -> String {
    switch view.linkState {
    case .connected: view.alarm == nil ? "●" : "✗"
    case .connecting: "○"
    case .disconnected, .reconnecting, .ended: "✗"
    }
  }
}
