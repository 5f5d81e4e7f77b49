internal import Control
internal import Frames
internal import Logging
internal import NIOCore
internal import Storage

/// Keeps what viewers have set of the cameras. Confined to the event loop.
final class CameraKeeper {
  private let store: JSONStore<StoredCameras>
  private let loop: any EventLoop
  private var stored = StoredCameras()
  /// By the camera's id.
  var titles: [String: String] { stored.titles }
  var isPaused: Bool { stored.isPaused == true }
  /// When somebody paused them or ended that; seconds since 1970.
  var changedAt: Double { stored.changedAt ?? 0 }
  /// A file that can't be read is not overwritten.
  private let isStorable: Bool

  init(_ store: JSONStore<StoredCameras>, loop: any EventLoop, logger: Logger) {
    self.store = store
    self.loop = loop
    do throws(StoreError) {
      if let earlier = try store.load() { stored = earlier }
      isStorable = true
    } catch {
      logger.warning("what was set of the cameras cannot be read", metadata: ["reason": "\(error)"])
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

  /// Succeeds once it is on disk. It holds in any case.
  func setPaused(_ isPaused: Bool) -> EventLoopFuture<Void> {
    stored.isPaused = isPaused ? true : nil
    stored.changedAt = MonotonicClock.unixTime.rounded()
    let loop = loop
    guard isStorable else { return loop.makeFailedFuture(Self.forgotten(nil)) }
    do throws(StoreError) {
      try store.save(stored)
    } catch {
      return loop.makeFailedFuture(Self.forgotten(error))
    }
    return store.file.written(on: loop).flatMapErrorThrowing { throw Self.forgotten($0) }
  }

  private static func forgotten(_ error: (any Error)?) -> ControlError {
    let reason = error.map { "\($0)" } ?? "its log has the reason"
    return ControlError(.internal, "Done, and not kept: a restart of the baby unit undoes it (\(reason)).")
  }

  private static func notStored(_ error: any Error) -> ControlError {
    ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
  }
}
