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
    var lastNotice = ""
  }

  init(isLive: Bool) {
    self.isLive = isLive
  }

  /// Shows a message above the status line.
  func say(_ notice: WatchNotice) {
    let time = timeOfDay()
    state.withLock { state in
      state.lastNotice = notice.text
      guard isLive else { return printError("\(time) \(notice.text)") }
      Self.write("\r\u{1b}[K\(time) \(notice.text)\n\(state.line)")
    }
  }

  /// Updates the status line.
  func show(_ statistics: WatchStatistics) {
    guard isLive else { return }
    let line = StatusLine.text(statistics, width: terminalWidth())
    state.withLock { state in
      state.line = line
      Self.write("\r\u{1b}[K\(line)")
    }
  }

  /// Ends the status line.
  func close() {
    guard isLive else { return }
    Self.write("\n")
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
  }
}

/// The status line, most important part first; parts that do not fit are left out.
enum StatusLine {
  static func text(_ statistics: WatchStatistics, width: Int) -> String {
    var parts = ["\(mark(statistics.state)) \(statistics.child ?? word(statistics.state))"]
    if let level = statistics.audioLevelDb { parts.append("\(meter(level)) \(Int(saturating: level.rounded())) dB") }
    if let delay = statistics.latencyMs?.p50 {
      parts.append("\(delay) ms")
    } else if let delay = statistics.latencyEstimateMs {
      parts.append("~\(Int(saturating: delay.rounded())) ms")
    }
    if let width = statistics.width, let height = statistics.height {
      parts.append("\(width)x\(height) \(Int(saturating: statistics.framesPerSecond.rounded()))/s")
    }
    parts.append("\(Int(saturating: (statistics.videoKbps + statistics.audioKbps).rounded())) kbit/s")
    if statistics.packetsLost > 0 { parts.append("lost \(statistics.packetsLost)") }
    if statistics.freezeCount > 0 { parts.append("froze \(statistics.freezeCount)x") }
    var line = ""
    for part in parts {
      let longer = line.isEmpty ? part : "\(line)  \(part)"
      guard longer.count < width else { break }
      line = longer
    }
    return line
  }

  /// Ten steps from -60 to 0 dB.
  static func meter(_ level: Double) -> String {
    let lit = min(10, max(0, Int(saturating: ((level + 60) / 6).rounded())))
    return String(repeating: "█", count: lit) + String(repeating: "·", count: 10 - lit)
  }

  private static func mark(_ state: WatchStatistics.State) -> String {
    switch state {
    case .connected: "●"
    case .connecting: "○"
    case .disconnected, .reconnecting, .ended: "✗"
    }
  }

  private static func word(_ state: WatchStatistics.State) -> String {
    switch state {
    case .connecting: "connecting"
    case .connected: "connected"
    case .disconnected: "LINK IS WEAK"
    case .reconnecting: "LINK IS LOST"
    case .ended: "ended"
    }
  }
}
