internal import Control
internal import Logging
internal import NIOCore
internal import Storage

/// What viewers call the cameras. Confined to the event loop.
final class CameraNames {
  private let store: CameraNameStore
  private let loop: any EventLoop
  /// By the camera's id.
  private(set) var titles: [String: String]
  /// A file that can't be read is not overwritten.
  private let isStorable: Bool

  init(_ store: CameraNameStore, loop: any EventLoop, logger: Logger) {
    self.store = store
    self.loop = loop
    do throws(StoreError) {
      titles = try store.load()
      isStorable = true
    } catch {
      logger.warning("the cameras' names cannot be read", metadata: ["reason": "\(error)"])
      titles = [:]
      isStorable = false
    }
  }

  /// Succeeds once it is on disk. Fails with `ControlError`, and nothing has changed then.
  func set(_ title: String?, of id: String) throws(ControlError) -> EventLoopFuture<Void> {
    guard isStorable else {
      throw ControlError(.unavailable, "The camera cannot read its names; its log has the reason.")
    }
    let before = titles
    titles[id] = title
    do throws(StoreError) {
      try store.save(titles)
    } catch {
      titles = before
      throw Self.notStored(error)
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return store.file.written(on: loop).flatMapErrorThrowing { error in
      bound.value.titles = before
      throw Self.notStored(error)
    }
  }

  private static func notStored(_ error: any Error) -> ControlError {
    ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
  }
}
