internal import Codecs
public import Frames
internal import Picture
public import RTPReceiving
internal import Synchronization
public import Wire

/// Received frames → VP8 decoder → newest picture, on a thread of its own.
public final class VideoPlayer: Sendable {
  public struct Counters: Sendable {
    public var framesDecoded: UInt64 = 0
    public var framesRefused: UInt64 = 0
    /// Of the last picture, in pixels.
    public var width = 0
    public var height = 0
    public var freezeCount = 0
    public var freezeDuration: Duration = .zero
    /// Decoding and waiting for the decoder, of all frames.
    public var processing: Duration = .zero
    public var firstPicture: Instant?
    /// Glass to glass, of the pictures that carried a timecode: since the last `takeCounters`, and since the start.
    public var recentLatency = LatencyHistogram()
    public var latency = LatencyHistogram()
  }

  private struct Shared {
    var counters = Counters()
    var freezes = FreezeDetector()
  }

  /// More than a second of pictures in wait means that this machine does not keep up.
  private static let maximumWaiting = 48
  /// Longer than any lip sync asks for, and far below what `maximumWaiting` holds.
  public static let maximumHold: Duration = .milliseconds(200)

  private struct Work: Sendable {
    var frame: ReceivedVideoFrame
    /// Not before this; nil: at once.
    var due: Instant?
  }

  private let mailbox = Mailbox<Work>(capacity: maximumWaiting)
  private let shared = Mutex(Shared())
  /// Set when a frame had to go: nothing can be decoded until the next key frame.
  private let isBroken = Atomic<Bool>(false)
  private let needsKeyFrame: @Sendable () -> Void
  private let show: (@Sendable (VideoFrame) -> Void)?
  private let thread = Mutex<WorkerThread?>(nil)

  /// Both closures are called on the decoder's thread. Without `show` pictures are decoded and not copied.
  public init(needsKeyFrame: @escaping @Sendable () -> Void, show: (@Sendable (VideoFrame) -> Void)?) {
    self.needsKeyFrame = needsKeyFrame
    self.show = show
  }

  /// Once.
  public func start() {
    thread.withLock { $0 = WorkerThread(name: "decode") { [self] in run() } }
  }

  /// Waits for the decoder.
  public func stop() {
    mailbox.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  /// In the order of decoding, from any thread.
  ///
  /// - Parameter hold: how long the picture waits for its sound, at most `maximumHold`.
  public func play(_ frame: ReceivedVideoFrame, hold: Duration = .zero) {
    let due = hold > .zero ? MonotonicClock.now + min(hold, Self.maximumHold) : nil
    if !mailbox.put(Work(frame: frame, due: due)) { isBroken.store(true, ordering: .relaxed) }
  }

  /// The connection is gone; the next picture comes from another.
  public func pause() {
    shared.withLock { $0.freezes.pause() }
  }

  /// `takingRecent` begins the next interval of `recentLatency`.
  public func counters(takingRecent: Bool) -> Counters {
    shared.withLock { shared in
      var counters = shared.counters
      counters.freezeCount = shared.freezes.count
      counters.freezeDuration = shared.freezes.total
      if takingRecent { shared.counters.recentLatency.reset() }
      return counters
    }
  }

  private func run() {
    var decoder = try? VP8Decoder()
    var awaitsKeyFrame = true
    while let work = mailbox.take() {
      let frame = work.frame
      if isBroken.exchange(false, ordering: .relaxed) { awaitsKeyFrame = true }
      if awaitsKeyFrame, !frame.isKeyFrame {
        needsKeyFrame()
        continue
      }
      // The decoder takes the same few milliseconds afterwards for each.
      if let due = work.due { MonotonicClock.sleep(until: due) }
      do {
        if decoder == nil { decoder = try VP8Decoder() }
        let copy = try decoder?.decode(frame.payload) { picture in
          note(picture, received: frame.lastArrival)
          return show == nil ? nil : picture.copy(captureTime: frame.lastArrival)
        }
        awaitsKeyFrame = false
        if let copy = copy ?? nil { show?(copy) }
      } catch {
        shared.withLock { $0.counters.framesRefused += 1 }
        decoder = nil
        awaitsKeyFrame = true
        needsKeyFrame()
      }
    }
  }

  private func note(_ picture: borrowing DecodedPicture, received: Instant) {
    let now = MonotonicClock.now
    let (width, height) = (picture.width, picture.height)
    let timecode = Timecode32.read(luma: picture.y, stride: picture.strideY, width: width, height: height)
    let latency = timecode.flatMap { Self.latency(since: $0) }
    shared.withLock { shared in
      shared.counters.framesDecoded += 1
      shared.counters.width = width
      shared.counters.height = height
      shared.counters.processing += now - received
      if shared.counters.firstPicture == nil { shared.counters.firstPicture = now }
      shared.freezes.picture(at: now)
      if let latency {
        shared.counters.recentLatency.add(milliseconds: latency)
        shared.counters.latency.add(milliseconds: latency)
      }
    }
  }

  /// Milliseconds since a timecode was stamped by this machine's clock, or one in step with it; nil for nonsense.
  private static func latency(since timecode: UInt32) -> Int? {
    let now = UInt32(truncatingIfNeeded: MonotonicClock.unixNanoseconds / 1_000_000)
    let difference = Int(Int32(bitPattern: now &- timecode))
    return (-50...60_000).contains(difference) ? difference : nil
  }
}
