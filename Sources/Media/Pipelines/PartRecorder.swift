public import Codecs
internal import Frames
internal import Linux
internal import Synchronization
internal import Wire

/// Records what a node encodes into WebM files of limited length, on its own thread. Each part begins with a key frame
/// and can be played by itself, also when it was cut off.
public final class PartRecorder: Sendable {
  private enum Work: Sendable {
    case media(EncodedMedia)
    case preRoll([EncodedMedia])
    case end
  }

  public struct Settings: Sendable {
    public var hasVideo: Bool
    public var hasAudio: Bool
    /// The next key frame after this begins another part.
    public var partLength: Duration
    /// A key frame begins another part near this size, for which it is asked; without one nothing is written beyond it.
    public var partBytes: Int

    public init(hasVideo: Bool, hasAudio: Bool, partLength: Duration, partBytes: Int) {
      self.hasVideo = hasVideo
      self.hasAudio = hasAudio
      self.partLength = partLength
      self.partBytes = partBytes
    }

    /// From here on another part may begin.
    fileprivate var fullBytes: Int { partBytes / 4 * 3 }
  }

  private let settings: Settings
  /// About five seconds: a memory card may stall that long.
  private let mailbox = Mailbox<Work>(capacity: 512)
  private let isBroken = Atomic(false)
  private let wantsKeyFrame = Atomic(false)
  private let hasFailed = Atomic(false)
  private let thread = Mutex<WorkerThread?>(nil)
  private let openPart: @Sendable (_ unixNanoseconds: Int64) throws(WebMError) -> String
  private let failed: @Sendable (WebMError) -> Void

  /// What a power cut may cost, beyond what the encoder holds.
  private static let syncInterval: Duration = .seconds(5)

  /// Both closures run on the recorder's thread.
  ///
  /// - Parameters:
  ///   - openPart: makes room and returns the path of a new file. It gets the wall clock of the part's beginning, which may
  ///     be some time ago.
  ///   - failed: nothing more is recorded; the last part is intact up to here. Called once.
  public init(
    _ settings: Settings, openPart: @escaping @Sendable (_ unixNanoseconds: Int64) throws(WebMError) -> String,
    failed: @escaping @Sendable (WebMError) -> Void
  ) {
    self.settings = settings
    self.openPart = openPart
    self.failed = failed
    thread.withLock { $0 = WorkerThread(name: "record") { [self] in run() } }
  }

  /// Everything before what `write` gets.
  public func begin(with items: [EncodedMedia]) {
    mailbox.put(.preRoll(items))
  }

  /// - Returns: false when a key frame is needed: the disk is too slow and something was lost, or the part is full.
  public func write(_ item: EncodedMedia) -> Bool {
    if mailbox.put(.media(item)) { return !wantsKeyFrame.exchange(false, ordering: .relaxed) }
    isBroken.store(true, ordering: .relaxed)
    return false
  }

  /// Nothing more is written after a failure.
  public var isRecording: Bool { !hasFailed.load(ordering: .relaxed) }

  /// Nothing comes after what `write` has got so far. Does not wait.
  public func end() {
    mailbox.put(.end)
  }

  /// The same; waits until everything is on disk.
  public func finish() {
    mailbox.put(.end)
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  private struct Part {
    let writer: WebMWriter
    let file: WebMDiskFile
    let begin: Instant
    var nextSync: Instant
    /// Written so far, with what each frame has around it.
    var bytes = 0

    /// Per frame: a block's head, and its share of the index and the clusters.
    static let overhead = 64
  }

  private func run() {
    var part: Part?
    var awaitsKeyFrame = settings.hasVideo
    do throws(WebMError) {
      loop: while let work = mailbox.take() {
        if isBroken.exchange(false, ordering: .relaxed) { awaitsKeyFrame = settings.hasVideo }
        switch work {
        case .media(let item): try write(item, &part, &awaitsKeyFrame)
        case .preRoll(let items): for item in items { try write(item, &part, &awaitsKeyFrame) }
        case .end: break loop
        }
      }
      try part?.writer.finish()
    } catch {
      hasFailed.store(true, ordering: .relaxed)
      mailbox.close()
      failed(error)
    }
  }

  private func write(_ item: EncodedMedia, _ part: inout Part?, _ awaitsKeyFrame: inout Bool) throws(WebMError) {
    var mayBegin = !settings.hasVideo
    if case .video(let frame) = item {
      if frame.isKeyFrame { awaitsKeyFrame = false }
      if awaitsKeyFrame { return }
      mayBegin = frame.isKeyFrame
    }
    let time = item.captureTime
    if mayBegin, part.map({ time - $0.begin >= settings.partLength || $0.bytes >= settings.fullBytes }) ?? true {
      try part?.writer.finish()
      part = nil
      part = try open(at: time)
    }
    guard let current = part else { return }
    let bytes = current.bytes + item.byteCount + Part.overhead
    guard bytes <= settings.partBytes else {
      awaitsKeyFrame = settings.hasVideo
      wantsKeyFrame.store(true, ordering: .relaxed)
      return
    }
    if current.bytes < settings.fullBytes, bytes >= settings.fullBytes { wantsKeyFrame.store(true, ordering: .relaxed) }
    part?.bytes = bytes
    switch item {
    case .video(let frame): try current.writer.write(video: frame.data, at: frame.captureTime)
    case .audio(let packet): try current.writer.write(audio: packet.data, at: packet.captureTime)
    }
    if time >= current.nextSync {
      try current.file.synchronize()
      part?.nextSync = time + Self.syncInterval
    }
  }

  private func open(at time: Instant) throws(WebMError) -> Part {
    let unix = MonotonicClock.wallClockReference.unixNanoseconds(at: time)
    let path = try openPart(unix)
    let file = try WebMDiskFile(path: path)
    FileOwner.adopt(path)
    let tracks = WebMTracks(hasVideo: settings.hasVideo, audioChannels: settings.hasAudio ? 1 : nil)
    return Part(
      writer: WebMWriter(file: file, tracks: tracks, unixTime: { unix }), file: file,
      begin: time, nextSync: time + Self.syncInterval)
  }
}
