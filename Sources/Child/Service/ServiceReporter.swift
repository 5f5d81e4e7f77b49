internal import Control
internal import Frames
internal import Linux
internal import Logging
internal import NIOCore
internal import Wire

/// Keeps the service manager informed: readiness, a status line, that all loops are alive, and the stop.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ServiceReporter: @unchecked Sendable {
  private let manager: ServiceManager
  private var watchdog: Watchdog?
  private let node: Node
  private var lastResort = LastResort()
  private var outputs = OutputWatch()
  private let logger: Logger
  private var lastStatus = ""
  private var stuck: [String] = []
  private var timer: RepeatedTask?

  /// What it asks and reports. All are called on the event loop.
  struct Node {
    var state: () -> NodeState
    /// Cameras and microphone, by their names for the log.
    var devices: () -> [(name: String, state: LastResort.State)]
    /// What encoders take and deliver.
    var outputs: () -> [OutputWatch.Track]
    /// A loop stopped responding; the service manager will end the process.
    var stuck: (_ name: String) -> Void
    /// A device needs another process.
    var needsRestart: (_ name: String) -> Void
  }

  init(manager: ServiceManager, loops: [Watchdog.Loop], node: Node, logger: Logger) {
    self.manager = manager
    watchdog = manager.watchdogLimit.map { Watchdog(limit: $0, loops: loops) }
    self.node = node
    self.logger = logger
  }

  /// The node is ready.
  func start(on loop: any EventLoop) {
    lastStatus = ServiceStatus.text(node.state())
    if !manager.notify(.ready, .status(lastStatus)) {
      logger.warning("the service manager cannot be notified (NOTIFY_SOCKET)")
    }
    visit()
    let interval = min(.seconds(1), watchdog?.interval ?? .seconds(1))
    let bound = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleRepeatedTask(
      initialDelay: .nanoseconds(interval.nanoseconds), delay: .nanoseconds(interval.nanoseconds)
    ) { _ in bound.value.visit() }
  }

  /// - Parameter isRestarting: the program begins again in this process.
  func stop(isRestarting: Bool) {
    timer?.cancel()
    manager.notify(
      isRestarting ? .reloading : .stopping, .status("Says goodbye."))
  }

  private func visit() {
    let now = MonotonicClock.now
    let idle = outputs.stuck(node.outputs(), now: now)
    noteStuck((watchdog?.stuck(at: now) ?? []) + idle)
    if let name = lastResort.note(node.devices(), now: now) {
      logger.critical("\(name) fails again and again; the service manager will restart the program")
      node.needsRestart(name)
    }
    if watchdog?.isPingDue(at: now) == true, idle.isEmpty { manager.notify(.alive) }
    let text = stuck.isEmpty ? ServiceStatus.text(node.state()) : "Stuck: \(stuck.joined(separator: ", "))."
    if text != lastStatus, manager.notify(.status(text)) { lastStatus = text }
  }

  private func noteStuck(_ new: [String]) {
    for name in new where !stuck.contains(name) {
      logger.critical("\(name) is stuck; the service manager will restart the program")
      node.stuck(name)
    }
    for name in stuck where !new.contains(name) { logger.notice("\(name) goes on") }
    stuck = new
  }
}

/// The line that `systemctl status` shows: number of viewers and state of each device. No names of people, because every
/// user of the machine may read it.
enum ServiceStatus {
  static func text(_ state: NodeState) -> String {
    let viewers = state.viewers.count
    let cameras = state.cameras.map { "camera \($0.id) \($0.state)" }
    let lights = state.document.lights?.map { "light \($0.id) \($0.state)" } ?? []
    let devices = cameras + ["microphone \(state.microphone.state)", "speaker \(state.speaker.state)"] + lights
    return "\(viewers) \(viewers == 1 ? "viewer" : "viewers"); \(devices.joined(separator: ", "))"
  }
}
