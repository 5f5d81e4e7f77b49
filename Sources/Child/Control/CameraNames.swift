internal import Control
internal import Logging
internal import NIOCore
internal import Storage

/// What viewers call the cameras. Confined to the event loop.
final class CameraNames {
  private let store: JSONStore<CameraTitles>
  private let loop: any EventLoop
  private var stored = CameraTitles()
  /// By the camera's id.
  var titles: [String: String] { stored.titles }
  /// A file that can't be read is not overwritten.
  private let isStorable: Bool

  init(_ store: JSONStore<CameraTitles>, loop: any EventLoop, logger: Logger) {
    self.store = store
    self.loop = loop
    do throws(StoreError) {
      if let earlier = try store.load() { stored = earlier }
      isStorable = true
    } catch {
      logger.warning("the cameras' names cannot be read", metadata: ["reason": "\(error)"])
      isStorable = false
    }
  }

  /// Succeeds once it is on disk. Fails with `ControlError`, and nothing has changed then.
  func set(_ title: String?, of id: String) throws(ControlError) -> EventLoopFuture<Void> {
    guard isStorable else {
      throw ControlError(.unavailable, "The camera cannot read its names; its log has the reason.")
    }
    let before = stored
    stored.titles[id] = title
    do throws(StoreError) {
      try store.save(stored)
    } catch {
      stored = before
      throw Self.notStored(error)
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return store.file.written(on: loop).flatMapErrorThrowing { error in
      bound.value.stored = before
      throw Self.notStored(error)
    }
  }

  private static func notStored(_ error: any Error) -> ControlError {
    ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
  }
}
