internal import Control
internal import Frames
internal import Wire

extension PictureStep {
  init(_ rendition: Rendition) {
    self =
      switch rendition {
      case .high, .refreshed: .high
      case .middle: .middle
      case .low: .low
      }
  }
}

/// What the allocator gives one viewer.
struct PictureAssignment: Equatable {
  var step: PictureStep
  /// The encoder; nil for sound alone, and while a still has to wait.
  var rendition: Rendition?
  /// Both temporal layers, not the base layer only.
  var takesAllLayers: Bool
  /// Less than the best is sent because of the path, not because the viewer wants no more.
  var isReduced: Bool

  var document: PictureDocument {
    PictureDocument(rendition: step, reason: isReduced ? PictureDocument.weakConnection : nil)
  }

  static let best = PictureAssignment(step: .high, rendition: .high, takesAllLayers: true, isReduced: false)
}

/// Decides which pictures of a camera go to one viewer while it changes between renditions: those of the old one until the
/// new one's key frame is there.
struct PictureRoute {
  var assignment = PictureAssignment.best
  /// What the decoder has reference pictures of; nil while only a key frame is worth sending.
  private(set) var current: Rendition?
  private var lastCaptureTime: Instant?
  private var stillAt: Instant?

  /// Time between stills: a still of 3 kB is then 5 kbit/s.
  static let stillInterval: Duration = .seconds(5)

  /// The viewer waits for a key frame of this rendition; nil while it needs none.
  var awaitedRendition: Rendition? {
    guard let rendition = assignment.rendition, assignment.step != .stills, current != rendition else { return nil }
    return rendition
  }

  /// Base layer only: the viewer's share of its encoder, or what still comes of a rendition that is too much for it.
  var takesAllLayers: Bool {
    guard let current, let target = assignment.rendition, target < current else { return assignment.takesAllLayers }
    return false
  }

  /// Nothing that was sent before helps the decoder with what follows, which may be of another camera.
  mutating func forgetPictures() {
    current = nil
    lastCaptureTime = nil
  }

  /// The rendition of which a lost picture is repaired; nil for stills, which come soon enough.
  var repairedRendition: Rendition? { assignment.step == .stills ? nil : awaitedRendition ?? current }

  func needsStill(at now: Instant) -> Bool {
    assignment.step == .stills && (stillAt.map { now - $0 >= Self.stillInterval } ?? true)
  }

  /// The route follows the next picture of the camera. Returns whether it is sent.
  mutating func accept(_ frame: EncodedVideoFrame) -> Bool {
    guard let target = assignment.rendition else {
      current = nil
      return false
    }
    // Of each picture one rendition at most: two with one time stamp would be one frame to the receiver.
    if let lastCaptureTime, frame.captureTime <= lastCaptureTime { return false }
    if assignment.step == .stills {
      guard frame.isKeyFrame, frame.rendition == target else { return false }
      // Those that other viewers of the rendition ask for are too many for this one.
      if let stillAt, frame.captureTime - stillAt < Self.stillInterval - .seconds(1) { return false }
      stillAt = frame.captureTime
      // What follows it in its rendition is not sent.
      current = nil
    } else if frame.isKeyFrame && frame.rendition == target {
      current = target
    } else if frame.rendition != current {
      return false
    }
    lastCaptureTime = frame.captureTime
    return true
  }
}
