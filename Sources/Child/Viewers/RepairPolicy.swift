internal import Control
internal import Wire

/// What becomes of a viewer whose path loses packets, when a picture is lost for good.
struct RepairPolicy {
  enum Tuning {
    /// How long at least a rendition is avoided that could not be repaired for one viewer, or its upper layer left out.
    static let avoidance = Duration.seconds(30)
    /// While a viewer loses a greater share than this, it avoids such a rendition where more than `fewOthers` watch it: what
    /// was lost for good once will be again, and each return costs all of them a key frame.
    static let lossyAbove = 0.05
    static let fewOthers = 2
    /// After a key frame for one viewer alone it gets the base layer: while that frame is on its way, there is less to lose.
    static let relief = Duration.seconds(2)
    /// So many key frames within that time, for one viewer alone, are too many.
    static let maximumRepairs = 3
    static let repairMemory = Duration.seconds(10)
  }

  /// Of the step that the viewer is on.
  private struct Repairs {
    /// When a key frame had to repair its picture, lately.
    var keyFrames: [Instant] = []
    /// So many of them that until then it gets the base layer alone.
    var baseLayerUntil: Instant?
  }

  private var repairs = Repairs()
  /// Steps that lost too much, and until when they are avoided at least.
  private var avoided: [PictureStep: Instant] = [:]
  private var isLossy = false

  mutating func measure(fractionLost: Double) { isLossy = fractionLost > Tuning.lossyAbove }

  func hasBaseLayerOnly(at now: Instant) -> Bool {
    let isRelieved = repairs.keyFrames.last.map { now - $0 < Tuning.relief } ?? false
    return isRelieved || repairs.baseLayerUntil.map { now < $0 } ?? false
  }

  /// - Parameter others: how many viewers would get the key frame with which this one comes to the step.
  func avoids(_ step: PictureStep, others: Int = 0, now: Instant) -> Bool {
    avoided[step].map { now < $0 || others > Tuning.fewOthers && isLossy } ?? false
  }

  /// Whether it has come down to a step because of what it loses, not because its path is narrow.
  func isDowngradedByLoss(to step: PictureStep) -> Bool { avoided.keys.contains { $0 > step } }

  /// Where others watch the same rendition, it goes on with a smaller one: a key frame of that costs them nothing. A viewer by
  /// itself gets a key frame, and for a moment no upper layer. When it needs them again and again, it does without that layer
  /// for longer, and then goes down as well.
  mutating func repair(
    _ step: PictureStep, isShared: Bool, hasSmaller: Bool, now: Instant
  ) -> RenditionAllocator.Repair {
    if !isShared {
      repairs.keyFrames = repairs.keyFrames.filter { now - $0 < Tuning.repairMemory } + [now]
      guard repairs.keyFrames.count >= Tuning.maximumRepairs else { return .keyFrame }
      let until = repairs.baseLayerUntil
      repairs.keyFrames = []
      guard let until, now < until else {
        repairs.baseLayerUntil = now + Tuning.avoidance
        return .keyFrame
      }
    }
    guard hasSmaller else { return .keyFrame }
    avoided[step] = now + Tuning.avoidance
    return .smallerRendition
  }

  /// The viewer has changed to this step.
  mutating func move(from step: PictureStep, to next: PictureStep) {
    if next > step { avoided = avoided.filter { $0.key > next } }
    repairs = Repairs()
  }
}
