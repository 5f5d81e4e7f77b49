internal import Frames
internal import Wire

/// A speaker without a device: takes 10 ms every 10 ms. The thread behind `null` and WAV files.
final class PacedSpeaker: MediaSource {
  let info: SpeakerInfo
  private let pull: PlaybackPull
  private let consume: @Sendable ([Int16]) throws(DeviceError) -> Void
  private let finish: @Sendable () -> Void
  private let thread = SourceThread()

  /// `consume` and `finish` are called on the playback thread.
  init(
    info: SpeakerInfo, pull: @escaping PlaybackPull, finish: @escaping @Sendable () -> Void = {},
    consume: @escaping @Sendable ([Int16]) throws(DeviceError) -> Void
  ) {
    self.info = info
    self.pull = pull
    self.consume = consume
    self.finish = finish
  }

  func start(
    deliver: @escaping @Sendable (PlaybackProgress) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "speaker") { [pull, consume, finish] stop in
      var samples = [Int16](repeating: 0, count: PlaybackFormat.samplesPerBlock)
      var written: UInt64 = 0
      var pace = Pace(start: MonotonicClock.now, secondsNumerator: 1, denominator: 100)
      defer { finish() }
      do throws(DeviceError) {
        while true {
          // Skipped blocks (the machine was suspended) are not filled in: silence would only grow the file.
          let deadline = pace.next(now: MonotonicClock.now).deadline
          if stop.wait(until: deadline) { return }
          pull(&samples, deadline)
          PlaybackBlock.restoreCount(&samples)
          try consume(samples)
          written += UInt64(samples.count)
          if PlaybackBlock.isReportDue(written) {
            deliver(PlaybackProgress(time: deadline, framesWritten: written, framesQueued: 0, interruptions: 0))
          }
        }
      } catch {
        failed(error)
      }
    }
  }

  func stop() {
    thread.stop()
  }
}

/// Block handling shared by both playback threads.
enum PlaybackBlock {
  private static let blocksPerReport: UInt64 = 10

  /// Restores the array's length if `pull` changed it.
  static func restoreCount(_ samples: inout [Int16]) {
    let difference = PlaybackFormat.samplesPerBlock - samples.count
    if difference > 0 { samples.append(contentsOf: repeatElement(0, count: difference)) }
    if difference < 0 { samples.removeLast(-difference) }
  }

  /// After the first block and every tenth of a second.
  static func isReportDue(_ written: UInt64) -> Bool {
    (written / UInt64(PlaybackFormat.samplesPerBlock)) % blocksPerReport == 1
  }
}
