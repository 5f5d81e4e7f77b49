/// An alarm drill: whether the alarms of those who watch ring, and somebody comes.
public struct DrillDocument: ControlReply {
  public static let member: String? = "drill"

  public enum State: String, Codable, CaseIterable, Sendable {
    case running, passed, failed
    /// Somebody ended it.
    case stopped
  }

  /// What the child withholds.
  public enum Stage: String, Codable, CaseIterable, Sendable {
    /// Everything, as when the link is lost.
    case link
    /// Pictures.
    case camera
    /// Sound.
    case microphone
  }

  public enum Outcome: String, Codable, CaseIterable, Sendable {
    case acknowledged
    /// It rang and nobody acknowledged it.
    case rang
    /// It did not ring.
    case silent
    /// The parent had stopped watching.
    case left
  }

  /// Outcomes that are not known yet, or of stages that do not concern this parent, are left out.
  public struct Parent: Codable, Hashable, Sendable {
    public var name: String
    public var link: Outcome?
    public var camera: Outcome?
    public var microphone: Outcome?

    public init(name: String, link: Outcome? = nil, camera: Outcome? = nil, microphone: Outcome? = nil) {
      self.name = name
      self.link = link
      self.camera = camera
      self.microphone = microphone
    }
  }

  /// Counts from 1 since the child was started.
  public var number: Int
  public var state: State
  /// While it runs: what is withheld, or is next.
  public var stage: Stage?
  /// When it began; when it was over.
  public var time: Double
  /// While it runs: how long it can take.
  public var seconds: Double?
  public var parents: [Parent]

  public init(
    number: Int, state: State, stage: Stage? = nil, time: Double, seconds: Double? = nil, parents: [Parent]
  ) {
    self.number = number
    self.state = state
    self.stage = stage
    self.time = time
    self.seconds = seconds
    self.parents = parents
  }
}
