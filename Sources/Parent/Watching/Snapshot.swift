internal import Codecs
internal import Frames
internal import Storage
internal import Synchronization

/// Keeps the newest picture, to be saved at the end.
final class Snapshot: Sendable {
  private let output: OutputPath
  private let newest = Mutex<VideoFrame?>(nil)

  /// - Throws: `ParentError` where nothing can be written: the end of a night is late to learn that.
  init(path: String) throws(ParentError) {
    output = OutputPath(path)
    do throws(FileError) {
      try output.check()
    } catch {
      throw ParentError("\(error)")
    }
  }

  func keep(_ picture: VideoFrame) {
    newest.withLock { $0 = picture }
  }

  /// Writes the file and returns a message about it.
  func save() -> WatchNotice {
    guard let picture = newest.withLock({ $0 }) else { return WatchNotice(.failed, "there is no picture to save") }
    do {
      try output.write(JPEGEncoder().encode(picture, quality: 90))
      return WatchNotice(.information, "saved \(output.path) (\(picture.width)x\(picture.height))")
    } catch {
      return WatchNotice(.failed, "the picture could not be saved: \(error)")
    }
  }
}
