import Control
import Desktop
import Frames
import Glibc
import Monitoring
import Parent
import Storage
import Synchronization
import Wire

/// What a person sees of a room and does there while watching, in the window and on the terminal.
final class WatchDesk: Sendable {
  private struct State {
    var view: WatchView
    var watcher: Watcher?
    /// The id of this session among those that watch.
    var viewer: String?
  }

  /// In the order in which the key was pressed and let go of.
  private enum TalkOrder: Sendable {
    case begin, end
  }

  private let screen: Screen
  /// Its number among those that are watched.
  let room: Int
  private let state: Mutex<State>
  private let notifier = DesktopNotifier()
  private let shown: @Sendable (WatchView) -> Void
  private let quit: @Sendable () -> Void
  private let talk: AsyncStream<TalkOrder>.Continuation

  /// - Parameters:
  ///   - shown: called with what is to be shown whenever that changes.
  ///   - quit: called when a key ends it.
  init(
    _ view: WatchView, room: Int, screen: Screen, shown: @escaping @Sendable (WatchView) -> Void,
    quit: @escaping @Sendable () -> Void
  ) {
    state = Mutex(State(view: view))
    self.room = room
    self.screen = screen
    self.shown = shown
    self.quit = quit
    let (orders, talk) = AsyncStream.makeStream(of: TalkOrder.self, bufferingPolicy: .bufferingNewest(16))
    self.talk = talk
    Task { [weak self] in
      for await order in orders { await self?.follow(order) }
    }
  }

  func close() {
    talk.finish()
    notifier.close()
  }

  func begin(_ watcher: Watcher) {
    state.withLock { $0.watcher = watcher }
  }

  private var watcher: Watcher? { state.withLock { $0.watcher } }

  /// As it is shown now.
  var view: WatchView { state.withLock { $0.view } }

  // MARK: What happens

  /// Changes what is shown, and shows it.
  private func change(_ body: (inout WatchView) -> Void) {
    let view = state.withLock { state in
      body(&state.view)
      return state.view
    }
    shown(view)
  }

  /// A line on the terminal; it names the room where there are several.
  func line(_ text: String) {
    let view = view
    screen.say(view.isOneOfSeveral ? "\(view.name): \(text)" : text)
  }

  func show(_ statistics: WatchStatistics) {
    change { $0.statistics = statistics }
  }

  /// For what only a window shows; the terminal has its own lines.
  func remark(_ text: String) {
    change { $0.say(text, now: MonotonicClock.now) }
  }

  func say(_ text: String) {
    line(text)
    remark(text)
  }

  /// Watching was given up; shown until somebody has read it.
  func end(_ reason: String) {
    line(reason)
    change { $0.end = reason }
  }

  func note(_ event: WatchEvent) {
    switch event {
    // Several a second, and nothing that is shown.
    case .push(.level), .push(.heartbeat): return
    default: break
    }
    let (before, beforeDrill) = state.withLock { ($0.view.alarm, $0.view.drill) }
    change { $0.note(event) }
    switch event {
    case .alarm(let report): alarmChanged(from: before, to: report)
    case .push(.hello(let hello)): state.withLock { $0.viewer = hello.viewer }
    case .push(.event(let event)): if screen.isLive { line(event.summary) }
    case .push(.state(let new)):
      if let hearing = new.hearing { say(hearing.text) }
      if let drill = new.drill, drill.number != beforeDrill?.number || drill.state != beforeDrill?.state {
        say(drill.announcement)
      }
      // Somebody else speaks now.
      let (own, talking) = state.withLock { ($0.viewer, $0.view.talking) }
      if talking == .speaking, let talk = new.talk, talk.viewer != own {
        talk.holder.map { say("\($0) speaks now") }
        self.talk.yield(.end)
      }
    case .state(.reconnecting), .state(.ended): talk.yield(.end)
    case .state, .push, .lost: break
    }
  }

  private func alarmChanged(from old: Alarm.Report?, to new: Alarm.Report?) {
    if let new {
      guard new.kind != old?.kind || (new.isRinging && old?.isRinging != true) else { return }
      line(new.level == .notice ? new.kind.title : "ALARM: \(new.kind.title). \(new.kind.advice)")
    } else if let old {
      say(old.kind == .test ? "the test is over" : "over: \(old.kind.title)")
    }
    if let new, new.isRinging {
      notifier.show(title: "\(view.name): \(new.kind.title)", body: new.kind.advice)
    } else {
      notifier.withdraw()
    }
  }

  // MARK: Keys

  /// - Parameter isHeld: whether `release` reports when the key is released.
  func press(_ character: Character, isHeld: Bool) {
    guard let key = WatchKey(rawValue: character) else { return }
    switch key {
    case .talk: pressTalk(isHeld: isHeld)
    case .light: order { $0.lightOrder }
    case .lullaby: order { $0.lullabyOrder }
    case .camera: order { _ in CameraSwitch() }
    case .screenshot: takePicture()
    case .mute:
      let isMuted = state.withLock { state in
        state.view.isMuted.toggle()
        return state.view.isMuted
      }
      watcher?.setMuted(isMuted)
      remark(isMuted ? "sound is off" : "sound is on")
    case .steady:
      let isSteady = state.withLock { state in
        state.view.isSteady.toggle()
        return state.view.isSteady
      }
      watcher?.setSteady(isSteady)
      remark(isSteady ? "smoother sound (0.4 s later)" : "sound as soon as it comes")
    case .acknowledge: watcher?.acknowledge()
    case .testAlarm: watcher?.testAlarm()
    case .testHearing: order { _ in HearingTestStart() }
    case .drill: pressDrill()
    case .help: if !isHeld { showTerminalHelp() }
    case .quit: quit()
    case .fullScreen, .small, .room: break
    }
  }

  func release(_ character: Character) {
    if character == WatchKey.talk.rawValue { talk.yield(.end) }
  }

  private func showTerminalHelp() {
    let areSeveral = view.isOneOfSeveral
    let keys = WatchKey.allCases.filter { !$0.isForWindows && (areSeveral || !$0.isForRooms) }
    screen.show(
      keys.map { "  \($0.name)\(String(repeating: " ", count: 7 - $0.name.count))\($0.meaning(isHeld: false))" })
  }

  private func pressDrill() {
    let order = state.withLock { $0.view.drillOrder(now: MonotonicClock.now) }
    guard let order else {
      return remark("press d again: everybody's alarm rings, and nobody can hear your baby meanwhile")
    }
    self.order { _ in order }
  }

  private func order(_ command: (WatchView) -> any ControlCommand) {
    guard let watcher else { return }
    let command = command(view)
    Task {
      do {
        let reply: any ControlReply = try await watcher.perform(command)
        switch reply {
        case let light as LightDocument: remark(light.text)
        case let lullaby as LullabyDocument: remark(lullaby.text)
        case let cameras as [CameraDocument]:
          remark("camera \(cameras.first(where: \.active).map { $0.title ?? $0.id } ?? "-")")
        default: break
        }
      } catch {
        say("\(error)")
      }
    }
  }

  private func takePicture() {
    guard let watcher else { return }
    let name = view.name
    Task {
      do {
        let picture = try await watcher.screenshot()
        let file = Self.pictureFolder + Screenshot.fileName(name)
        // Mode 0600: a picture of a child is private.
        try AtomicFile(path: file).write(picture.bytes)
        say("saved \(file)")
      } catch {
        say("\(error)")
      }
    }
  }

  /// This directory for who works on a terminal; for who started it from a desktop, where pictures are looked for.
  private static var pictureFolder: String {
    guard isatty(STDERR_FILENO) == 0, let home = getenv("HOME").map({ String(cString: $0) }) else { return "" }
    let pictures = "\(home)/Pictures"
    return access(pictures, W_OK) == 0 ? "\(pictures)/" : ""
  }

  // MARK: Talking

  private func pressTalk(isHeld: Bool) {
    guard let watcher else { return }
    guard watcher.canTalk else { return say("only a paired device can talk") }
    let isTalking = view.talking != .silent
    talk.yield(isTalking && !isHeld ? .end : .begin)
  }

  private func follow(_ order: TalkOrder) async {
    guard let watcher else { return }
    let talking = view.talking
    switch order {
    case .begin:
      guard talking == .silent else { return }
      change { $0.talking = .asking }
      do {
        try await watcher.startTalking()
        change { $0.talking = .speaking }
      } catch {
        change { $0.talking = .silent }
        say("\(error)")
      }
    case .end:
      guard talking != .silent else { return }
      await watcher.stopTalking()
      change { $0.talking = .silent }
    }
  }
}
