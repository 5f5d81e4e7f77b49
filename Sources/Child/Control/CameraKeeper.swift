internal import Control
internal import Frames
internal import Logging
internal import NIOCore
internal import Storage
internal import Wire

/// Keeps what viewers have set of the cameras. Confined to the event loop.
final class CameraKeeper {
  private let store: JSONStore<StoredCameras>
  private let loop: any EventLoop
  private var stored = StoredCameras()
  /// By the camera's id.
  var titles: [String: String] { stored.titles }
  var isPaused: Bool { stored.isPaused == true }
  /// When somebody paused them or ended that in this run; nil: before it began.
  private var changed: Instant?
  private let begun: Instant
  private let clock: () -> WallClockReference
  /// A file that can't be read is not overwritten.
  private let isStorable: Bool

  init(
    _ store: JSONStore<StoredCameras>, loop: any EventLoop, logger: Logger,
    clock: @escaping () -> WallClockReference = { MonotonicClock.wallClockReference }
  ) {
    self.clock = clock
    begun = clock().instant
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

  /// When somebody paused them or ended that; seconds since 1970, by the clock as it is now: it may have been set since, and what
  /// was before this run is no later than that, whatever the clock showed then.
  var changedAt: Double {
    let now = clock()
    let latest = Double(now.unixNanoseconds) / 1e9 - (now.instant - (changed ?? begun)).inSeconds
    return changed == nil ? min(stored.changedAt ?? 0, latest) : latest
  }

  /// Succeeds once it is on disk. It holds in any case.
  func setPaused(_ isPaused: Bool) -> EventLoopFuture<Void> {
    stored.isPaused = isPaused ? true : nil
    let now = clock()
    stored.changedAt = (Double(now.unixNanoseconds) / 1e9).rounded()
    changed = now.instant
    let loop = loop
    guard isStorable else { return loop.makeFailedFuture(Self.forgotten(nil)) }
    do throws(StoreError) {
      // As urgent as taking somebody's access away.
      try store.save(stored, removes: isPaused)
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
