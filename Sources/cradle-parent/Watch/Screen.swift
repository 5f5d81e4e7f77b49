import Commands
import Glibc
import Parent
import Synchronization
import Wire

/// The terminal while watching: messages as lines, and below them one status line.
final class Screen: Sendable {
  /// Whether standard output is a terminal, which shows the status line.
  let isLive: Bool
  private let state: Mutex<State>

  private struct State {
    var views: [WatchView]
    /// The room that keys are for.
    var chosen = 0
    var line = ""
    var isClosed = false
    var bellAt: time_t = 0
  }

  /// - Parameter views: of the rooms that are watched, as they are at first.
  init(_ views: [WatchView], isLive: Bool) {
    self.isLive = isLive
    state = Mutex(State(views: views))
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
  func show(_ view: WatchView, room: Int) {
    change { $0.views[room] = view }
  }

  /// Keys are for this room from now on.
  func choose(_ room: Int) {
    change { $0.chosen = room }
  }

  private func change(_ body: (inout State) -> Void) {
    guard isLive else { return }
    let (width, now) = (terminalWidth(), time(nil))
    state.withLock { state in
      body(&state)
      guard !state.isClosed else { return }
      state.line = StatusLine.text(state.views, chosen: state.chosen, width: width)
      let rings = state.views.contains(where: \.isRinging) && now - state.bellAt >= 2
      if rings { state.bellAt = now }
      Self.write("\r\u{1b}[K\(state.line)\(rings ? "\u{07}" : "")")
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
  /// - Parameter chosen: the room that keys are for.
  static func text(_ views: [WatchView], chosen: Int, width: Int) -> String {
    if views.count == 1 { return text(views[0], width: width) }
    var (pieces, used) = ([String](), 0)
    // Where not all have room, those that ring have it.
    let order = views.indices.filter { views[$0].isRinging } + views.indices.filter { !views[$0].isRinging }
    for room in order {
      let view = views[room]
      let piece = piece(view, number: room + 1)
      guard used + piece.displayWidth + 2 < width else { break }
      used += piece.displayWidth + 2
      let style = view.isRinging ? "1;37;41" : view.problem != nil ? "31" : room == chosen ? "1" : nil
      pieces.append(style.map { "\u{1b}[\($0)m\(piece)\u{1b}[0m" } ?? piece)
    }
    return pieces.joined(separator: "  ")
  }

  private static func piece(_ view: WatchView, number: Int) -> String {
    var parts = ["\(number) \(mark(view)) \(view.name)"]
    if let problem = view.problem {
      parts.append(problem)
    } else if let level = view.levelDb {
      parts.append(meter(level))
    }
    if let text = view.pictureText { parts.append(text) }
    if view.talking == .speaking { parts.append("YOU ARE HEARD") }
    if view.isMuted { parts.append("sound is off") }
    if view.isRinging { parts.append("ALARM (a: I'm on it)") }
    return parts.joined(separator: " ")
  }

  private static func text(_ view: WatchView, width: Int) -> String {
    var pieces = [mark(view)]
    if let level = view.levelDb { pieces.append(meter(level)) }
    if view.isRinging { pieces.append("ALARM (a: I'm on it)") }
    var line = ""
    for part in pieces + view.parts {
      let longer = line.isEmpty ? part : "\(line)  \(part)"
      guard longer.displayWidth < width else { break }
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
    case _ where view.end != nil: "✗"
    case .connected: view.alarm == nil ? "●" : "✗"
    case .connecting: view.alarm == nil ? "○" : "✗"
    case .disconnected, .reconnecting, .ended: "✗"
    }
  }
}
