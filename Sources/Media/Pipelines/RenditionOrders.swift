internal import Frames
internal import VideoFormats
internal import Wire

/// What somebody wants of a rendition.
public struct RenditionTarget: Hashable, Sendable {
  /// Total of all layers.
  public var kbps: Int
  /// Only the key frames that are asked for are encoded: stills, for viewers with the weakest paths.
  public var isStillsOnly: Bool

  public init(kbps: Int, isStillsOnly: Bool = false) {
    self.kbps = kbps
    self.isStillsOnly = isStillsOnly
  }
}

/// What has to be encoded of each picture of a camera in one codec: which renditions somebody is on, at what rate, and where a key frame
/// is due. Times are passed in.
struct RenditionOrders: Sendable {
  struct Order: Equatable, Sendable {
    var codec = VideoCodec.vp8
    var rendition: Rendition
    var kbps: Int
    var isKeyFrame: Bool
  }

  private struct Track: Sendable {
    var target: RenditionTarget?
    /// The earliest time for a requested key frame; nil when none is requested.
    var keyFrameDue: Instant?
    var lastKeyFrame = Instant.zero - .seconds(3600)
    var cadence: Cadence
  }

  private var tracks: PerRendition<Track>
  private let codec: VideoCodec

  /// - Parameter framesPerSecond: the camera's.
  init(startKbps: Int, framesPerSecond: Double, codec: VideoCodec = .vp8) {
    self.codec = codec
    tracks = PerRendition { rendition in
      Track(
        target: rendition == .high && codec == .vp8 ? RenditionTarget(kbps: startKbps) : nil,
        cadence: Cadence(of: rendition.maximumFramesPerSecond(of: codec), outOf: framesPerSecond))
    }
  }

  var targets: PerRendition<RenditionTarget?> {
    get { PerRendition { tracks[$0].target } }
    set {
      for rendition in Rendition.allCases {
        // An encoder that begins, or goes on after a pause, has no picture that a decoder knows.
        let goesOn = tracks[rendition].target.map { !$0.isStillsOnly } ?? false
        if newValue[rendition] != nil, !goesOn { tracks[rendition].keyFrameDue = .zero }
        if newValue[rendition] == nil { tracks[rendition].keyFrameDue = nil }
        tracks[rendition].target = newValue[rendition]
      }
    }
  }

  /// The next picture becomes a key frame, or goes without if `isWanted` is false.
  mutating func setKeyFrameDue(_ isWanted: Bool, of rendition: Rendition) {
    tracks[rendition].keyFrameDue = isWanted ? .zero : nil
  }

  /// - Parameters:
  ///   - spacing: least time after the key frame before.
  ///   - patience: least time from now; another's request may bring one earlier.
  mutating func requestKeyFrame(of rendition: Rendition, spacing: Duration, patience: Duration, now: Instant) {
    let due = max(tracks[rendition].lastKeyFrame + spacing, now + patience)
    tracks[rendition].keyFrameDue = min(due, tracks[rendition].keyFrameDue ?? due)
  }

  /// What to encode of a picture. Key frames come first: a viewer that changes to one must not have been sent the same
  /// picture of its old rendition. Then the best.
  mutating func take(captureTime: Instant, now: Instant) -> [Order] {
    var orders: [Order] = []
    for rendition in Rendition.allCases.reversed() {
      guard let target = tracks[rendition].target else { continue }
      let isKeyFrame = tracks[rendition].keyFrameDue.map { $0 <= now } ?? false
      guard isKeyFrame || !target.isStillsOnly else { continue }
      guard tracks[rendition].cadence.takes(captureTime, isForced: isKeyFrame) else { continue }
      if isKeyFrame { tracks[rendition].keyFrameDue = nil }
      orders.append(Order(codec: codec, rendition: rendition, kbps: target.kbps, isKeyFrame: isKeyFrame))
    }
    return orders.filter(\.isKeyFrame) + orders.filter { !$0.isKeyFrame }
  }

  mutating func failed(_ order: Order) {
    if order.isKeyFrame { tracks[order.rendition].keyFrameDue = .zero }
  }

  /// Whatever was requested until now is answered.
  mutating func noteKeyFrame(of rendition: Rendition, at began: Instant) {
    tracks[rendition].keyFrameDue = nil
    tracks[rendition].lastKeyFrame = began
  }

  /// Renditions that somebody is on.
  var wanted: [Rendition] { Rendition.allCases.filter { tracks[$0].target != nil } }
}

/// Picks pictures at an even rate from a camera that delivers more.
struct Cadence: Sendable {
  /// Nil: every picture.
  private let interval: Duration?
  private var due: Instant?

  init(of framesPerSecond: Int?, outOf camera: Double) {
    // Near the camera's own rate its jitter would decide which pictures are left out.
    interval = framesPerSecond.flatMap { camera > Double($0) * 1.2 ? .seconds(1) / $0 : nil }
  }

  mutating func takes(_ captureTime: Instant, isForced: Bool = false) -> Bool {
    guard let interval else { return true }
    guard let due, !isForced else {
      self.due = captureTime + interval
      return true
    }
    // A picture that comes a little early would otherwise be replaced by one that is late.
    guard captureTime >= due - interval / 4 else { return false }
    self.due = max(due + interval, captureTime + interval / 2)
    return true
  }
}
