/// A proof of hearing: that what sounds in the child's room arrives at a parent.
public struct HearingDocument: ControlReply {
  public static let member: String? = "hearing"

  public enum State: String, Codable, CaseIterable, Sendable {
    case running, heard
    case notHeard = "not-heard"
  }

  /// Counts from 1 since the child was started.
  public var number: Int
  public var state: State
  /// `chirp`: the speaker plays, its microphone and the parents listen. `noise-floor`: without a speaker the noise of the
  /// room is compared, a weaker proof. A newer child may have others.
  public var way: String
  /// Why `way` is the weaker one: `missing` is a speaker that is configured and does not play, `off` is none.
  public var speaker: DeviceState?
  /// When it began; when it was over.
  public var time: Double
  /// While it runs: how long to listen.
  public var seconds: Double?
  /// Whether the child's own microphone heard the chirp.
  public var microphone: Bool?
  /// Names of the parents that heard it.
  public var parents: [String]?
  /// Names of those that listened and did not hear it, once it is over; left out where there are none.
  public var unanswered: [String]?

  public init(
    number: Int, state: State, way: String, speaker: DeviceState? = nil, time: Double, seconds: Double? = nil,
    microphone: Bool? = nil, parents: [String]? = nil, unanswered: [String]? = nil
  ) {
    self.number = number
    self.state = state
    self.way = way
    self.speaker = speaker
    self.time = time
    self.seconds = seconds
    self.microphone = microphone
    self.parents = parents
    self.unanswered = unanswered
  }
}
