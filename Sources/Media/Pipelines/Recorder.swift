public import Codecs
internal import Frames
internal import Linux
public import RTPReceiving
internal import Synchronization
public import Wire

/// Records incoming media into a WebM file without re-encoding, on its own thread: a slow disk, or whoever reads the other
/// end of a pipe slowly, never delays the picture.
public final class Recorder: Sendable {
  private enum Work: Sendable {
    case video(ReceivedVideoFrame)
    case audio([UInt8], timestamp: UInt32, playedAt: Instant, captureTime: Instant?)
    case end
  }

  public struct State: Sendable {
    public var summary = WebMSummary()
    public var error: WebMError?
  }

  private let mailbox = Mailbox<Work>(capacity: 512)
  private let state = Mutex(State())
  private let thread: Mutex<WorkerThread?>
  private let writer: SingleThreadWriter
  /// A picture was dropped; those that depend on it are of no use.
  private let isBroken = Atomic(false)

  /// Confined to the recorder's thread after `init`, but for the file's `hurry`.
  private final class SingleThreadWriter: @unchecked Sendable {
    let file: any WebMFile
    let writer: WebMWriter

    init(_ file: any WebMFile, tracks: WebMTracks) {
      self.file = file
      writer = WebMWriter(file: file, tracks: tracks) { MonotonicClock.unixNanoseconds }
    }
  }

  /// - Parameters:
  ///   - file: used by nobody else from now on.
  ///   - failed: nothing more is recorded, for this reason. Called once, on the recorder's thread.
  public init(
    file: sending any WebMFile, hasVideo: Bool, hasAudio: Bool, failed: @escaping @Sendable (WebMError) -> Void
  ) {
    writer = SingleThreadWriter(file, tracks: WebMTracks(hasVideo: hasVideo, audioChannels: hasAudio ? 1 : nil))
    thread = Mutex(nil)
    thread.withLock { $0 = WorkerThread(name: "record") { [self] in run(failed) } }
  }

  /// Writes a received picture; call in decoding order.
  public func write(_ frame: ReceivedVideoFrame) {
    put(.video(frame))
  }

  /// Writes the sound played at `time`.
  public func write(_ audio: ReceivedAudio, playedAt time: Instant) {
    guard case .packet(let packet) = audio.content else { return }
    put(
      .audio(packet, timestamp: audio.rtpTimestamp, playedAt: time, captureTime: audio.captureTime))
  }

  /// What the writer does not keep up with is dropped, the oldest first.
  private func put(_ work: Work) {
    if !mailbox.put(work) { isBroken.store(true, ordering: .relaxed) }
  }

  public var current: State { state.withLock { $0 } }

  /// Waits until everything is on disk; returns what was recorded and the error that ended it early, if any.
  public func finish() -> State {
    writer.file.hurry()
    mailbox.put(.end)
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
    return current
  }

  private func run(_ failed: @Sendable (WebMError) -> Void) {
    var video = RTPTimeline(clockRate: 90_000)
    var audio = RTPTimeline(clockRate: 48_000)
    // Offset from the sender's clock to the picture's local time. It aligns the sound with its picture; before the
    // first sender reports the sound lies later by its jitter buffer delay.
    var senderClock: Duration?
    var awaitsKeyFrame = false
    do throws(WebMError) {
      loop: while let work = mailbox.take() {
        if isBroken.exchange(false, ordering: .relaxed) { awaitsKeyFrame = true }
        switch work {
        case .video(let frame):
          if frame.isKeyFrame { awaitsKeyFrame = false }
          if awaitsKeyFrame { continue }
          let time = video.instant(of: frame.rtpTimestamp, arrival: frame.lastArrival)
          if senderClock == nil { senderClock = frame.captureTime.map { time - $0 } }
          try writer.writer.write(video: frame.payload, at: time)
        case .audio(let packet, let timestamp, let playedAt, let captureTime):
          let time = audio.instant(of: timestamp, arrival: playedAt)
          let inStep = senderClock.flatMap { offset in captureTime.map { $0 + offset } }
          try writer.writer.write(audio: packet, at: inStep ?? time)
        case .end:
          break loop
        }
        state.withLock { $0.summary = writer.writer.summary }
      }
      let summary = try writer.writer.finish()
      state.withLock { $0.summary = summary }
    } catch {
      let summary = writer.writer.summary
      state.withLock { state in
        state.summary = summary
        state.error = error
      }
      mailbox.close()
      failed(error)
    }
  }
}
