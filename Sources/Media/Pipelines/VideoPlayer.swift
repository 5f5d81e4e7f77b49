internal import Codecs
public import Frames
internal import Linux
internal import Picture
public import RTPReceiving
internal import Synchronization
public import Wire

/// Received frames → VP8 decoder → newest picture, on its own thread.
public final class VideoPlayer: Sendable {
  public struct Counters: Sendable {
    public var framesDecoded: UInt64 = 0
    public var framesRefused: UInt64 = 0
    /// Size of the last picture, in pixels.
    public var width = 0
    public var height = 0
    public var freezeCount = 0
    public var freezeDuration: Duration = .zero
    /// Total time that frames waited for the decoder and were decoded.
    public var processing: Duration = .zero
    public var firstPicture: Instant?
    /// Glass-to-glass latency of pictures with a timecode: since they were last taken, and since the start.
    public var recentLatency = LatencyHistogram()
    public var latency = LatencyHistogram()
    /// From capture to here, of pictures whose time of capture is known on this machine's clock, likewise.
    public var recentAge = LatencyHistogram()
    public var age = LatencyHistogram()
    /// Of pictures whose sound is heard, likewise.
    public var recentLipSync = LipSyncFigures()
    public var lipSync = LipSyncFigures()
  }

  private struct Shared {
    var counters = Counters()
    var freezes = FreezeDetector()
  }

  /// More than a second of queued pictures means that this machine cannot keep up.
  private static let maximumWaiting = 48
  /// The longest jitter buffer of sound and a slow speaker; below the capacity of `maximumWaiting`.
  public static let maximumHold: Duration = .milliseconds(700)

  private struct Work: Sendable {
    var frame: ReceivedVideoFrame
    /// On our clock; nil: not known.
    var capturedAt: Instant?
    /// Not shown before this; nil: at once.
    var due: Instant?
    /// When its sound is heard; nil: nobody hears it.
    var heardAt: Instant?
  }

  private let mailbox = Mailbox<Work>(capacity: maximumWaiting)
  private let shared = Mutex(Shared())
  /// Set when a frame was dropped: nothing can be decoded until the next key frame.
  private let isBroken = Atomic<Bool>(false)
  private let needsKeyFrame: @Sendable () -> Void
  private let show: (@Sendable (VideoFrame) -> Void)?
  private let thread = Mutex<WorkerThread?>(nil)

  /// Both closures are called on the decoder's thread. Without `show` pictures are decoded but not copied.
  public init(needsKeyFrame: @escaping @Sendable () -> Void, show: (@Sendable (VideoFrame) -> Void)?) {
    self.needsKeyFrame = needsKeyFrame
    self.show = show
  }

  /// Call once.
  public func start() {
    thread.withLock { $0 = WorkerThread(name: "decode") { [self] in run() } }
  }

  /// Joins the decoder's thread.
  public func stop() {
    mailbox.close()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  /// Call in decoding order, from any thread.
  ///
  /// - Parameters:
  ///   - capturedAt: when, on this machine's clock; nil: that is not known.
  ///   - hold: how long to delay the picture for its sound, at most `maximumHold`.
  ///   - soundLag: how much later than now its sound is heard; nil: nobody hears it.
  public func play(
    _ frame: ReceivedVideoFrame, capturedAt: Instant? = nil, hold: Duration = .zero, soundLag: Duration? = nil
  ) {
    let now = MonotonicClock.now
    let due = hold > .zero ? now + min(hold, Self.maximumHold) : nil
    if !mailbox.put(Work(frame: frame, capturedAt: capturedAt, due: due, heardAt: soundLag.map { now + $0 })) {
      isBroken.store(true, ordering: .relaxed)
    }
  }

  /// The connection is gone; the next picture comes from a new one.
  public func pause() {
    shared.withLock { $0.freezes.pause() }
  }

  /// `takingRecent` starts a new interval of `recentLatency`.
  public func counters(takingRecent: Bool) -> Counters {
    shared.withLock { shared in
      var counters = shared.counters
      counters.freezeCount = shared.freezes.count
      counters.freezeDuration = shared.freezes.total
      if takingRecent {
        shared.counters.recentLatency.reset()
        shared.counters.recentAge.reset()
        shared.counters.recentLipSync.reset()
      }
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
      // Decoding then adds the same few milliseconds to every picture.
      if let due = work.due { MonotonicClock.sleep(until: due) }
      do {
        if decoder == nil { decoder = try VP8Decoder() }
        let copy = try decoder?.decode(frame.payload) { picture in
          note(picture, of: work)
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

  private func note(_ picture: borrowing DecodedPicture, of work: Work) {
    let now = MonotonicClock.now
    let (width, height) = (picture.width, picture.height)
    let timecode = Timecode32.read(luma: picture.y, stride: picture.strideY, width: width, height: height)
    let latency = timecode.flatMap { Self.latency(since: $0) }
    shared.withLock { shared in
      shared.counters.framesDecoded += 1
      shared.counters.width = width
      shared.counters.height = height
      shared.counters.processing += now - work.frame.lastArrival
      if shared.counters.firstPicture == nil { shared.counters.firstPicture = now }
      shared.freezes.picture(at: now)
      if let heardAt = work.heardAt {
        shared.counters.recentLipSync.add(now - heardAt)
        shared.counters.lipSync.add(now - heardAt)
      }
      if let capturedAt = work.capturedAt {
        let age = Int(saturating: (now - capturedAt).inMilliseconds)
        shared.counters.recentAge.add(milliseconds: age)
        shared.counters.age.add(milliseconds: age)
      }
      if let latency {
        shared.counters.recentLatency.add(milliseconds: latency)
        shared.counters.latency.add(milliseconds: latency)
      }
    }
  }

  /// Milliseconds since a timecode stamped by this machine's clock, or one in sync with it; nil if implausible.
  private static func latency(since timecode: UInt32) -> Int? {
    let now = UInt32(truncatingIfNeeded: MonotonicClock.unixNanoseconds / 1_000_000)
    let difference = Int(Int32(bitPattern: now &- timecode))
    return (-50...60_000).contains(difference) ? difference : nil
  }
}
