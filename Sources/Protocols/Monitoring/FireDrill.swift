public import Control
public import Wire

/// An alarm drill: the child cuts off what an alarm watches for, one thing after the other, until each parent that watches has
/// rung and somebody has acknowledged it there. Parents do not play along: theirs are the alarms of any other night. Pure.
public struct FireDrill: Sendable {
  public typealias Stage = DrillDocument.Stage
  public typealias Outcome = DrillDocument.Outcome

  /// A paired parent that watches.
  public struct Parent: Hashable, Sendable {
    /// Of its pair record.
    public var id: String
    public var name: String
    /// What it would miss: one that gets no picture does not ring for the camera.
    public var stages: Set<Stage>
    /// The drill fails if it does not ring there. A guest takes part: what it acknowledges is a result, and nobody waits for it.
    public var isRequired: Bool

    public init(id: String, name: String, stages: Set<Stage>, isRequired: Bool = true) {
      self.id = id
      self.name = name
      self.stages = stages
      self.isRequired = isRequired
    }
  }

  private enum Phase: Hashable, Sendable {
    /// Before a stage: parents are notified, or recover from the one before.
    case pause(until: Instant)
    case withholding(until: Instant)
    case over
  }

  public let number: Int
  /// The stages to come, the present one first.
  private var stages: [Stage]
  private var phase: Phase
  private let parents: [Parent]
  private var outcomes: [String: [Stage: Outcome]] = [:]

  /// For people to read that it is a drill.
  private static let announcement: Duration = .seconds(3)
  /// A parent rings within 5 s; somebody comes and acknowledges it.
  private static let longest: Duration = .seconds(30)
  /// For all to be well again at the parents. An alarm that nobody acknowledged is reported when it is over.
  private static let recovery: Duration = .seconds(6)

  /// How long it can take, all stages unacknowledged.
  public static func limit(stages: Int) -> Duration { announcement + (longest + recovery) * stages }

  public init(number: Int, stages: [Stage], parents: [Parent], now: Instant) {
    self.number = number
    self.stages = stages.filter { stage in parents.contains { $0.isRequired && $0.stages.contains(stage) } }
    self.parents = parents
    phase = .pause(until: now + Self.announcement)
  }

  /// The stage that is under way, also while parents recover from it.
  public var stage: Stage? { phase == .over ? nil : stages.first }

  /// What is withheld from a parent now.
  public func withheld(from parent: String) -> Stage? {
    guard case .withholding = phase, let stage = stages.first, isPending(stage, parent) else { return nil }
    return stage
  }

  private func isPending(_ stage: Stage, _ parent: String) -> Bool {
    parents.contains { $0.id == parent && $0.stages.contains(stage) } && outcomes[parent]?[stage] != .acknowledged
  }

  /// A parent reports an alarm of this kind. Others than the stage's own are real, and not ours.
  public mutating func rang(_ kind: String, isAcknowledged: Bool, at parent: String) {
    guard hasBegun, let stage = stages.first, Self.kinds(of: stage).contains(kind), isPending(stage, parent) else {
      return
    }
    guard isAcknowledged || parents.contains(where: { $0.id == parent && $0.isRequired }) else { return }
    outcomes[parent, default: [:]][stage] = isAcknowledged ? .acknowledged : .rang
  }

  /// Something is withheld, or has been for this stage.
  private var hasBegun = false

  private static func kinds(of stage: Stage) -> [String] {
    let kinds: [Alarm.Kind] =
      switch stage {
      case .link: [.link]
      case .camera: [.camera, .frozenPicture]
      case .microphone: [.microphone, .digitalSilence]
      }
    return kinds.map(\.rawValue)
  }

  /// Goes on as time passes. Call several times a second.
  ///
  /// - Parameter present: the parents that watch now.
  /// - Returns: true when the stage or the phase is another one.
  public mutating func handleTimeout(now: Instant, present: Set<String>) -> Bool {
    switch phase {
    case .over: return false
    case .pause(let until):
      guard now >= until else { return false }
      if hasBegun { judge(present) }
      guard !stages.isEmpty else {
        phase = .over
        return true
      }
      hasBegun = true
      phase = .withholding(until: now + Self.longest)
      return true
    case .withholding(let until):
      guard let stage = stages.first else { return false }
      let isAwaited = parents.contains { $0.isRequired && isPending(stage, $0.id) }
      guard now >= until || !isAwaited else { return false }
      phase = .pause(until: now + Self.recovery)
      return true
    }
  }

  private mutating func judge(_ present: Set<String>) {
    hasBegun = false
    let stage = stages.removeFirst()
    let required = parents.filter { $0.isRequired && $0.stages.contains(stage) }
    for parent in required where outcomes[parent.id]?[stage] == nil {
      outcomes[parent.id, default: [:]][stage] = present.contains(parent.id) ? .silent : .left
    }
  }

  public var isOver: Bool { phase == .over }

  /// Everything that was withheld from everybody was acknowledged.
  public var isPassed: Bool {
    isOver && !outcomes.isEmpty && outcomes.values.allSatisfy { $0.values.allSatisfy { $0 == .acknowledged } }
  }

  /// What has come of it so far. Guests that have acknowledged nothing are left out.
  public var results: [DrillDocument.Parent] {
    parents.filter { $0.isRequired || outcomes[$0.id] != nil }.map { parent in
      let known = outcomes[parent.id] ?? [:]
      return DrillDocument.Parent(
        name: parent.name, link: known[.link], camera: known[.camera], microphone: known[.microphone])
    }
  }
}
