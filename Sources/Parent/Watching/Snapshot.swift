internal import Codecs
internal import Frames
internal import Storage
internal import Synchronization

/// Keeps the newest picture, to be saved at the end.
final class Snapshot: Sendable {
  private let path: String
  private let newest = Mutex<VideoFrame?>(nil)

  init(path: String) {
    self.path = path
  }

  func keep(_ picture: VideoFrame) {
    newest.withLock { $0 = picture }
  }

  /// Writes the file and returns a message about it.
  func save() -> WatchNotice {
    guard let picture = newest.withLock({ $0 }) else { return WatchNotice(.information, "there is no picture to save") }
    do {
      try AtomicFile(path: path).write(JPEGEncoder().encode(picture, quality: 90))
      return WatchNotice(.information, "saved \(path) (\(picture.width)x\(picture.height))")
    } catch {
      return WatchNotice(.trouble, "the picture could not be saved: \(error)")
    }
  }
}
