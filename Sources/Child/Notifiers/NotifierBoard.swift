internal import Control
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Storage

/// All notifiers, each with a thread of its own; none at all when none is configured.
final class NotifierBoard: Sendable {
  private let group: MultiThreadedEventLoopGroup?
  private let notifiers: [Notifier]

  /// - Parameter takePicture: a picture of the room for those that want one, JPEG.
  init(
    _ configuration: [ChildConfiguration.Notifier], child: String, in directory: StateDirectory, logger: Logger,
    takePicture: @escaping @Sendable (any EventLoop) -> EventLoopFuture<[UInt8]?>
  ) {
    guard !configuration.isEmpty else {
      group = nil
      notifiers = []
      return
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.count)
    self.group = group
    notifiers = configuration.map { settings in
      Notifier(
        ConfiguredDestination(settings: settings, child: child), loop: group.next(), logger: logger,
        takePicture: takePicture
      ) { () throws(FileError) in try directory.notifications(of: settings.name) }
    }
  }

  func start() {
    for notifier in notifiers { notifier.start() }
  }

  func note(_ event: EventDocument) {
    for notifier in notifiers { notifier.note(event) }
  }

  var statuses: [StatusReport.Notifier] { notifiers.map(\.status) }

  /// - Parameter name: nil: all.
  /// - Returns: nil when there is no such notifier.
  func test(_ name: String?, on loop: any EventLoop) -> EventLoopFuture<[NotifyTests.Row]>? {
    let chosen = notifiers.filter { name == nil || $0.destination.name == name }
    guard !chosen.isEmpty else { return nil }
    return EventLoopFuture.whenAllSucceed(chosen.map { $0.test() }, on: loop)
  }

  var names: [String] { notifiers.map(\.destination.name) }

  /// Writes what is undelivered.
  func stop() async {
    for notifier in notifiers { try? await notifier.stop().get() }
    try? await group?.shutdownGracefully()
  }
}
