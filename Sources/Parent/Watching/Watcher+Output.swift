internal import Codecs
internal import Pipelines

// What is left of a session: its last picture and its recording.
extension Watcher {
  /// Ends both, and says what came of them. Waits for the disk.
  func finishOutput() {
    if let snapshot { notice(snapshot.save()) }
    guard let recorder else { return }
    let state = recorder.finish()
    let summary = state.summary
    let size = "\(Self.seconds(summary.duration)) s, \(summary.videoFrames) pictures, \(summary.bytes >> 10) KiB"
    if state.error != nil {
      // The reason was said when it came.
      if summary.bytes > 0 { notice(WatchNotice(.information, "recorded \(size)")) }
    } else if summary.bytes == 0 {
      notice(WatchNotice(.failed, "nothing was recorded"))
    } else {
      notice(WatchNotice(.information, "recorded \(size)"))
    }
  }
}
