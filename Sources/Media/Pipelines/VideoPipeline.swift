public import DeviceNames
public import Devices
public import Frames
internal import Linux
internal import Picture
internal import Synchronization
public import VideoFormats
public import Wire

/// Camera thread → newest frame → encoder thread, encoded once for all viewers of a rendition and codec.
///
/// The encoder always takes the newest frame; while it is busy older frames are replaced, not queued. It sleeps while
/// nobody is watching. Without a camera, or while it is paused, it encodes a card that says so.
public final class VideoPipeline: Sendable {
  public struct Settings: Sendable {
    /// The configuration's name for the camera.
    public var cameraID: String
    public var device: VideoDevice
    public var request: VideoRequest
    /// The initial bitrate; viewers' bandwidth estimates move it. kbit/s.
    public var startKbps: Int

    public init(cameraID: String, device: VideoDevice, request: VideoRequest, startKbps: Int) {
      self.cameraID = cameraID
      self.device = device
      self.request = request
      self.startKbps = startKbps
    }
  }

  /// Counters of one track, of all renditions together, for heartbeats and statistics.
  public struct Counters: Sendable {
    public var captured: UInt64 = 0
    public var encoded: UInt64 = 0
    public var keyFrames: UInt64 = 0
    public var encodedBytes: UInt64 = 0
    /// Total of all pictures.
    public var encodeNanoseconds: Int64 = 0
    /// The current libvpx `cpu-used`.
    public var speed = 0

    public init() {}
  }

  /// Counters of one rendition.
  public struct RenditionCounters: Sendable {
    public var encoded: UInt64 = 0
    public var keyFrames: UInt64 = 0
    public var encodedBytes: UInt64 = 0
    /// Size of the last picture, in pixels.
    public var width = 0
    public var height = 0
  }

  /// How bright a picture was: `VideoFrame.brightness`.
  public struct Brightness: Hashable, Sendable {
    public var level: Double
    /// When it was captured.
    public var time: Instant
  }

  /// `off` while it is paused.
  public typealias CameraState = DeviceStatus<VideoSourceInfo>

  private enum Work: Sendable {
    case frame(VideoFrame)
    /// Nobody is watching yet: encoded only to warm up the encoder.
    case warmUp(VideoFrame)
    /// No new frame, but a change: a viewer started watching, or the pipeline is stopping.
    case wake
  }

  /// The key frame for a viewer who is joining, encoded while the connection is being set up.
  private enum FirstPicture {
    case none, underway
    case ready(EncodedVideoFrame, since: Instant)
  }

  /// Who is to get pictures.
  private enum Audience {
    case nobody
    /// A viewer is here or joining: a picture is kept at hand, and the first one encoded.
    case joining(FirstPicture)
    /// A viewer's connection is up.
    case watching
  }

  private struct Shared {
    var audience = Audience.nobody
    /// In which a viewer who is joining gets its first picture.
    var firstCodec = VideoCodec.vp8
    /// The tens of megabytes that the encoder allocates and touches with its first picture are in place.
    var isEncoderReady = false
    /// Renditions that have an encoder.
    var running: PerCodec<[Rendition]> = PerCodec { _ in [] }
    /// Nil while there is no audience.
    var latest: VideoFrame?
    var orders: PerCodec<RenditionOrders>
    var camera: CameraState = .opening
    var counters = Counters()
    var renditions: PerCodec<PerRendition<RenditionCounters>> = PerCodec { _ in
      PerRendition { _ in RenditionCounters() }
    }
    var isNight = false
    /// The next picture's brightness is asked for.
    var isBrightnessDue = false
    var brightness: Brightness?

    var isPaused: Bool { if case .off = camera { true } else { false } }
    var isCapturing: Bool { if case .nobody = audience { false } else { true } }
    var isEncoding: Bool { if case .watching = audience { true } else { false } }

    mutating func take(_ camera: CameraState) {
      self.camera = camera
      switch camera {
      case .missing, .off:
        latest = nil
        discardFirstPicture()
      case .opening, .running: break
      }
    }

    /// Renditions whose encoders are needed: that of a first picture goes on with what follows it.
    func wanted(_ codec: VideoCodec) -> [Rendition] {
      switch audience {
      case .watching: orders[codec].wanted
      case .joining: codec == firstCodec ? [.high] : []
      case .nobody: []
      }
    }

    mutating func discardFirstPicture() {
      if case .joining = audience { audience = .joining(.none) }
    }
  }

  /// An older first picture would be misleading; setting up a connection takes a few round trips.
  private static let firstPictureAge: Duration = .milliseconds(500)
  /// The card's clock ticks; 5 fps show that it is live.
  private static let cardInterval: Duration = .milliseconds(200)

  public let settings: Settings
  /// The pulse of the loop that reads the camera or keeps looking for one.
  public let capturePulse = Pulse()
  /// The encoder's pulse, at rest while there is nothing to encode.
  public let encoderPulse = Pulse()
  private let shared: Mutex<Shared>
  private let mailbox = Mailbox<Work>(capacity: 1)
  private let demand = Demand()
  private let slowShutter = Demand()
  private let hold = Hold()
  /// Callers waiting for a single picture.
  private let stills = Mutex<[Mailbox<VideoFrame>]>([])
  private let deliver: @Sendable (EncodedVideoFrame) -> Void
  private let cameraChanged: @Sendable (CameraState) -> Void
  private let parts = Mutex<Parts>(Parts())

  private struct Parts {
    var supervisor: VideoSupervisor?
    var thread: WorkerThread?
  }

  /// Both closures are called on the pipeline's threads.
  public init(
    settings: Settings, deliver: @escaping @Sendable (EncodedVideoFrame) -> Void,
    cameraChanged: @escaping @Sendable (CameraState) -> Void
  ) {
    self.settings = settings
    self.deliver = deliver
    self.cameraChanged = cameraChanged
    shared = Mutex(
      Shared(
        orders: PerCodec { codec in
          RenditionOrders(
            startKbps: settings.startKbps, framesPerSecond: settings.request.framesPerSecond, codec: codec)
        }))
  }

  /// Call once.
  public func start() {
    let supervisor = VideoSupervisor(
      settings.device, request: settings.request, demand: demand, hold: hold, slowShutter: slowShutter,
      pulse: capturePulse)
    parts.withLock { parts in
      parts.supervisor = supervisor
      parts.thread = WorkerThread(name: "encode") { [self] in encodeUntilClosed() }
    }
    supervisor.start(
      deliver: { [weak self] frame in self?.captured(frame) },
      stateChanged: { [weak self] state in self?.supervisorChanged(state) })
  }

  /// Joins the threads.
  public func stop() {
    let taken = parts.withLock { parts in
      defer { parts = Parts() }
      return parts
    }
    taken.supervisor?.stop()
    mailbox.close()
    taken.thread?.join()
  }

  // MARK: Viewers' demand

  /// - Parameters:
  ///   - capturing: a viewer is here or joining: keep pictures at hand, and the first one encoded.
  ///   - encoding: a viewer's connection is up.
  ///   - codec: of the viewer that is joining.
  public func setDemand(capturing: Bool, encoding: Bool, codec: VideoCodec = .vp8) {
    let newest = shared.withLock { shared -> Work? in
      switch (shared.audience, encoding, capturing) {
      case (.watching, true, _), (.joining, false, true): return nil
      case (.joining(let first), true, _): return begin(first, &shared)
      case (.nobody, true, _): return begin(.none, &shared)
      case (_, false, true):
        shared.audience = .joining(.none)
        shared.firstCodec = codec
      case (_, false, false):
        shared.audience = .nobody
        shared.latest = nil
      }
      return nil
    }
    updateDemand()
    // Without a picture, the encoder thread only lets go of encoders that nobody needs.
    if let newest { mailbox.put(newest) } else if !encoding { mailbox.put(.wake) }
  }

  /// The camera runs for viewers, for stills and to measure brightness. One lock around reading and setting, so that neither overtakes the other.
  private func updateDemand() {
    stills.withLock { stills in
      demand.isWanted = shared.withLock { $0.isCapturing || $0.isBrightnessDue } || !stills.isEmpty
    }
  }

  /// Somebody is to get what is encoded.
  public var isEncoding: Bool { shared.withLock { $0.isEncoding } }

  /// Sends the first picture now, or as soon as it is encoded; the following frames refer to it.
  ///
  /// - Returns: the work to give the encoder at once.
  private func begin(_ first: FirstPicture, _ shared: inout Shared) -> Work? {
    shared.audience = .watching
    switch first {
    case .ready(let picture, let since) where MonotonicClock.now - since < Self.firstPictureAge:
      shared.orders[picture.codec].setKeyFrameDue(false, of: .high)
      // Under the lock, so that nothing overtakes it.
      deliver(picture)
      return nil
    case .underway:
      return nil
    case .ready, .none:
      // A new viewer has no reference frames.
      shared.orders[shared.firstCodec].setKeyFrameDue(true, of: .high)
      return shared.latest.map(Work.frame) ?? .wake
    }
  }

  /// For a viewer that has just joined: the very next picture becomes a key frame.
  public func requestKeyFrameAtOnce(of rendition: Rendition = .high, in codec: VideoCodec = .vp8) {
    shared.withLock { $0.orders[codec].setKeyFrameDue(true, of: rendition) }
  }

  /// A viewer lost a frame (PLI, FIR) or changes to this rendition: sends a key frame, but for all requests at most one in
  /// the time of `spacing`.
  ///
  /// - Parameter patience: how long to wait for one that another viewer needs.
  public func requestKeyFrame(
    of rendition: Rendition = .high, in codec: VideoCodec = .vp8, spacing: Duration = .milliseconds(300),
    patience: Duration = .zero
  ) {
    let now = MonotonicClock.now
    shared.withLock { shared in
      shared.orders[codec].requestKeyFrame(of: rendition, spacing: spacing, patience: patience, now: now)
    }
  }

  /// The next captured picture, even while nobody is watching; nil when none comes in time. Blocks.
  public func takeFrame(within patience: Duration) -> VideoFrame? {
    let still = Mailbox<VideoFrame>(capacity: 1)
    stills.withLock { $0.append(still) }
    updateDemand()
    defer {
      stills.withLock { $0.removeAll { $0 === still } }
      updateDemand()
    }
    return still.take(until: MonotonicClock.now + patience)
  }

  /// Sets what is encoded from the next picture on; nil for a rendition that nobody is on. A rendition that begins does so
  /// with a key frame.
  public func setTargets(_ targets: PerRendition<RenditionTarget?>, of codec: VideoCodec = .vp8) {
    shared.withLock { $0.orders[codec].targets = targets }
  }

  // MARK: Pause

  /// Closes the camera, so that no picture is taken, or opens it again. Returns at once; nothing is sent of what is still captured.
  public func setPaused(_ isPaused: Bool) {
    let isNew = shared.withLock { shared in
      guard shared.isPaused != isPaused else { return false }
      hold.turn()
      shared.take(isPaused ? .off : .opening)
      return true
    }
    if isNew { announceCamera() }
  }

  // MARK: Night

  /// While it is night the encoder filters the camera's noise and, if the settings allow it, the camera takes as long as a
  /// picture needs.
  public func setNight(_ isNight: Bool) {
    shared.withLock { $0.isNight = isNight }
    slowShutter.isWanted = isNight && settings.request.hasSlowShutter
  }

  /// Measures the next picture, even while nobody is watching; `brightness` then has it.
  public func requestBrightness() {
    shared.withLock { $0.isBrightnessDue = true }
    updateDemand()
  }

  /// The latest one that was asked for; nil before that.
  public var brightness: Brightness? { shared.withLock { $0.brightness } }
  /// Whether a viewer is here or joining.
  public var isWatched: Bool { shared.withLock { $0.isCapturing } }

  /// Rates of the renditions that are wanted: nil where nobody is on it.
  public var targets: PerCodec<PerRendition<RenditionTarget?>> {
    shared.withLock { shared in PerCodec { shared.orders[$0].targets } }
  }
  /// Of the best rendition that is wanted, in VP8 if that is; 0 when there is none.
  public var targetKbps: Int {
    let targets = targets
    for codec in VideoCodec.allCases {
      if let best = Rendition.allCases.reversed().lazy.compactMap({ targets[codec][$0]?.kbps }).first { return best }
    }
    return 0
  }
  /// Of this rendition; of the best one for nil.
  public func targetKbps(for rendition: Rendition?, in codec: VideoCodec = .vp8) -> Int {
    rendition.flatMap { targets[codec][$0]?.kbps } ?? targetKbps
  }

  public var counters: Counters { shared.withLock { $0.counters } }
  /// The camera's pictures that were dropped because they were not whole.
  public var damage: Damage { parts.withLock { $0.supervisor }?.damage ?? Damage() }
  public var renditionCounters: PerCodec<PerRendition<RenditionCounters>> { shared.withLock { $0.renditions } }
  /// Size of the camera's pictures, in pixels, as they are encoded; as asked for until it is known.
  public var pictureSize: (width: Int, height: Int) {
    if case .running(let info) = camera { return (info.width, info.height) }
    return settings.request.pictureSize
  }
  public var camera: CameraState { shared.withLock { $0.camera } }

  // MARK: Camera thread

  private func captured(_ frame: VideoFrame) {
    guard !shared.withLock({ $0.isPaused }) else { return }
    measure(frame)
    let work = shared.withLock { shared -> Work? in
      // It may have been paused a moment ago: no picture is kept for later.
      guard !shared.isPaused else { return nil }
      shared.counters.captured += 1
      shared.latest = shared.isCapturing ? frame : nil
      switch shared.audience {
      case .watching: return .frame(frame)
      case .joining(.none):
        shared.audience = .joining(.underway)
        return .frame(frame)
      case .joining: return nil
      case .nobody: return shared.isEncoderReady ? nil : .warmUp(frame)
      }
    }
    if let work { mailbox.put(work) }
    for still in stills.withLock({ $0 }) { still.put(frame) }
  }

  private func measure(_ frame: VideoFrame) {
    guard shared.withLock({ $0.isBrightnessDue }) else { return }
    let brightness = Brightness(level: frame.brightness, time: frame.captureTime)
    shared.withLock { shared in
      shared.brightness = brightness
      shared.isBrightnessDue = false
    }
    updateDemand()
  }

  private func supervisorChanged(_ camera: CameraState) {
    let isNews = shared.withLock { shared in
      // What it says of a camera that is being closed.
      guard !shared.isPaused else { return false }
      shared.take(camera)
      return true
    }
    if isNews { announceCamera() }
  }

  private func announceCamera() {
    mailbox.put(.wake)
    cameraChanged(camera)
  }

  // MARK: Encoder thread

  private func encodeUntilClosed() {
    var encoders = PerCodec { RenditionEncoders(settings: settings, codec: $0) }
    var card: (reason: CardReason, card: MissingCard)?
    var cardSequence: UInt64 = 0
    defer { encoderPulse.rest() }
    while true {
      let deadline = cardReason == nil ? nil : MonotonicClock.now + Self.cardInterval
      encoderPulse.rest()
      let work = mailbox.take(until: deadline)
      encoderPulse.beat()
      guard !mailbox.isClosed else { return }
      release(&encoders)
      if let reason = cardReason {
        if card?.reason != reason { card = (reason, Self.card(for: reason, settings: settings)) }
        cardSequence += 1
        let frame = card!.card.draw(
          captureTime: MonotonicClock.now, sequence: cardSequence, unixNanoseconds: MonotonicClock.unixNanoseconds)
        encode(frame, with: &encoders)
      } else if case .frame(let frame) = work {
        encode(frame, with: &encoders)
      } else if case .warmUp(let frame) = work {
        warmUp(frame, with: &encoders)
      }
    }
  }

  /// Why the viewers see a card now; nil while there are no viewers, or there is a camera.
  private var cardReason: CardReason? {
    shared.withLock { shared in
      guard shared.isEncoding else { return nil }
      return switch shared.camera {
      case .missing(let error): .missing(error)
      case .off: .paused
      case .opening, .running: nil
      }
    }
  }

  private func encode(_ frame: VideoFrame, with encoders: inout PerCodec<RenditionEncoders>) {
    let began = MonotonicClock.now
    let (orders, isFirst, isNight) = shared.withLock { shared in
      if shared.isEncoding {
        let orders = VideoCodec.allCases.flatMap { shared.orders[$0].take(captureTime: frame.captureTime, now: began) }
        return (orders, false, shared.isNight)
      }
      guard case .joining(.underway) = shared.audience else { return ([], false, false) }
      let codec = shared.firstCodec
      let kbps = shared.orders[codec].targets[.high]?.kbps ?? settings.startKbps
      let order = RenditionOrders.Order(codec: codec, rendition: .high, kbps: kbps, isKeyFrame: true)
      return ([order], true, shared.isNight)
    }
    for order in orders {
      let began = MonotonicClock.now
      guard let encoded = encoders[order.codec].encode(frame, order, isNight: isNight) else {
        shared.withLock { shared in
          shared.orders[order.codec].failed(order)
          if order.rendition == .high { shared.discardFirstPicture() }
        }
        continue
      }
      let took = MonotonicClock.now - began
      let speed = encoders[order.codec].speed(of: order.rendition) ?? 0
      let isAwaited = shared.withLock { shared in
        note(encoded, began: began, took: took, speed: speed, &shared)
        return !isFirst || !keep(encoded, since: began, &shared)
      }
      if isAwaited { deliver(encoded) }
    }
    // One thread encodes all, so each has to leave time for the others.
    let took = MonotonicClock.now - began
    for codec in Set(orders.map(\.codec)) {
      encoders[codec].note(encodeTime: took, of: orders.filter { $0.codec == codec }.map(\.rendition))
    }
  }

  private func note(
    _ encoded: EncodedVideoFrame, began: Instant, took: Duration, speed: Int, _ shared: inout Shared
  ) {
    let (codec, rendition) = (encoded.codec, encoded.rendition)
    if codec == .vp8, rendition == .high {
      shared.isEncoderReady = true
      shared.counters.speed = speed
    }
    shared.counters.encoded += 1
    shared.counters.encodedBytes += UInt64(encoded.data.count)
    shared.counters.encodeNanoseconds += took.nanoseconds
    shared.renditions[codec][rendition].encoded += 1
    shared.renditions[codec][rendition].encodedBytes += UInt64(encoded.data.count)
    shared.renditions[codec][rendition].width = encoded.width
    shared.renditions[codec][rendition].height = encoded.height
    guard encoded.isKeyFrame else { return }
    shared.counters.keyFrames += 1
    shared.renditions[codec][rendition].keyFrames += 1
    shared.orders[codec].noteKeyFrame(of: rendition, at: began)
  }

  /// Spares the first viewer the encoder's set-up: at 720p it takes nine thousand pages of memory and half of the time
  /// to the first picture.
  private func warmUp(_ frame: VideoFrame, with encoders: inout PerCodec<RenditionEncoders>) {
    let isNeeded = shared.withLock { !$0.isEncoderReady && !$0.isCapturing }
    guard isNeeded else { return }
    let order = RenditionOrders.Order(rendition: .high, kbps: settings.startKbps, isKeyFrame: true)
    _ = encoders[.vp8].encode(frame, order, isNight: false)
    shared.withLock { $0.isEncoderReady = true }
  }

  /// Ends encoders that nobody is on.
  private func release(_ encoders: inout PerCodec<RenditionEncoders>) {
    for codec in VideoCodec.allCases {
      encoders[codec].keep(only: shared.withLock { $0.wanted(codec) })
      let running = encoders[codec].running
      shared.withLock { $0.running[codec] = running }
    }
  }

  /// Whether the encoder has been created and used.
  var isEncoderReady: Bool { shared.withLock { $0.isEncoderReady } }
  /// Renditions that have an encoder, as of the last picture.
  var runningEncoders: PerCodec<[Rendition]> { shared.withLock { $0.running } }

  /// Keeps the first picture for its viewer. False if the viewer was faster.
  private func keep(_ picture: EncodedVideoFrame, since began: Instant, _ shared: inout Shared) -> Bool {
    switch shared.audience {
    case .nobody: return true
    case .joining:
      shared.audience = .joining(.ready(picture, since: began))
      return true
    case .watching:
      shared.orders[picture.codec].setKeyFrameDue(false, of: .high)
      return false
    }
  }

  /// Why a card is shown.
  enum CardReason: Hashable {
    case missing(DeviceError)
    case paused
  }

  static func card(for reason: CardReason, settings: Settings) -> MissingCard {
    let (title, lines) =
      switch reason {
      // Viewers say what to do about it, in their own words.
      case .missing(let error):
        (
          "No camera \"\(settings.cameraID)\"",
          [error.device == settings.device.description ? error.summary : "\(error.device): \(error.summary)"]
        )
      case .paused: ("Camera paused", ["The sound goes on."])
      }
    // As large as the camera's pictures, and upright however the camera hangs: it is there to be read.
    let size = settings.request.pictureSize
    return MissingCard(width: size.width, height: size.height, title: title, lines: lines)
  }
}
