import Desktop
import Monitoring
import Parent
import Wire

extension WindowContent {
  init(_ view: WatchView, now: Instant) {
    self.init(title: "\(view.name) - Cradle")
    name = view.name
    problem = view.problem
    note = view.pictureText
    switch view.linkState {
    case _ where view.end != nil: tone = .bad
    case .connected: tone = view.alarm == nil ? .good : .bad
    case .connecting: tone = view.alarm == nil ? .waiting : .bad
    case .disconnected, .reconnecting, .ended: tone = .bad
    }
    meterDb = view.levelDb
    parts = view.parts
    said = view.said(now: now)
    isLinePinned = view.talking != .silent
    let answer = view.isRinging ? Button(.acknowledge) : nil
    banner = view.banner.map { Banner(title: $0.title, lines: $0.lines, isAlarm: $0.isAlarm, button: answer) }
    buttons = view.buttons.compactMap { Button($0.key, isOn: $0.isOn) }
    if view.isOnlyListener {
      question = Question(
        "Nobody else is listening to \(isolated(view.name)).", stay: "Keep listening", leave: "Stop listening")
    }
    isRinging = view.isRinging
    waiting = view.waiting
    help = WatchKey.allCases.filter { view.isOneOfSeveral || !$0.isForRooms }.map {
      HelpRow($0.name, $0.meaning(isHeld: true))
    }
  }
}

extension WindowContent.Button {
  fileprivate init?(_ key: WatchKey, isOn: Bool = false) {
    guard let title = key.title else { return nil }
    self.init(key.rawValue, title, isOn: isOn)
  }
}

extension WindowRooms {
  /// - Parameter leftOut: the names of rooms that nobody listens to here.
  init(_ views: [WatchView], leftOut: [String], now: Instant) {
    let rooms = views.map { WindowContent($0, now: now) }
    guard views.count > 1 else {
      self.init(rooms[0])
      return
    }
    self.init(title: "\(views.map(\.name).joined(separator: ", ")) - Cradle", rooms)
    if !leftOut.isEmpty { warning = "Nobody listens here to: \(leftOut.map(isolated).joined(separator: ", "))" }
  }

  /// A room has changed, or another one was chosen.
  mutating func update(_ room: Int, _ views: [WatchView], chosen: Int, now: Instant) {
    rooms[room] = WindowContent(views[room], now: now)
    self.chosen = chosen
    if areSeveral { alarm = Self.alarm(views, chosen: chosen) } else { title = rooms[room].title }
  }

  /// The alarm that a click is for, and the others that ring.
  private static func alarm(_ views: [WatchView], chosen: Int) -> WindowContent.Banner? {
    let first = WatchRooms.answered(views, chosen: chosen)
    guard views[first].isRinging, let banner = views[first].banner else { return nil }
    let others = views.indices.filter { $0 != first && views[$0].isRinging }.compactMap { room in
      views[room].alarm.map { "\(isolated(views[room].name)): \($0.kind.title)" }
    }
    return WindowContent.Banner(
      title: "\(isolated(views[first].name)): \(banner.title)", lines: banner.lines + others, isAlarm: true,
      button: WindowContent.Button(.acknowledge))
  }
}

/// A name that is written from right to left does not turn the sentence that it is in: Unicode Standard Annex 9, LRM, FSI and PDI. Pango
/// takes a line's direction from its first letter also where that is isolated.
private func isolated(_ name: String) -> String { "\u{200e}\u{2068}\(name)\u{2069}" }
