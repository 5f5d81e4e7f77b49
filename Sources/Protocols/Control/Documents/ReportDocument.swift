/// The reply to `report.get`: who listened, and what was not heard. Times are seconds since 1970-01-01 UTC; a minute is one
/// of the wall clock.
public struct ReportDocument: ControlReply {
  public static let member: String? = "report"

  public var from: Double
  public var to: Double
  /// Minutes between the two that have passed.
  public var minutes: Int
  /// Those in which the child ran.
  public var recordedMinutes: Int
  /// Those in which a parent demonstrably received fresh sound.
  public var monitoredMinutes: Int
  /// The most minutes first.
  public var parents: [Parent]
  public var longestGap: Gap?
  /// The longest ones, in the order of time.
  public var gaps: [Gap]
  public var noise: Noise
  public var losses: [Loss]
  public var alarms: [Alarm]
  /// Proofs of hearing and alarm drills.
  public var proofs: [Proof]
  public var restarts: Int
  public var reconnects: Int
  /// Nil for more than two days.
  public var timeline: Timeline?

  public struct Parent: Codable, Hashable, Sendable {
    public var name: String
    /// Minutes in which it received sound.
    public var minutes: Int

    public init(name: String, minutes: Int) {
      self.name = name
      self.minutes = minutes
    }
  }

  /// Why no parent received sound.
  public enum Cause: String, CaseIterable, Sendable {
    /// The child did not run.
    case childOff = "child-off"
    /// The child's clock was set, so these minutes may never have been.
    case clock
    /// The microphone delivered nothing.
    case microphone
    /// A parent's link was lost.
    case link
    /// A parent left by itself.
    case left
    /// A parent's access was ended.
    case ended
    /// No parent was there, or none received anything.
    case nobody
  }

  public struct Gap: Codable, Hashable, Sendable {
    public var from: Double
    public var to: Double
    /// `Cause`s, or those that only a newer child knows.
    public var causes: [String]

    public init(from: Double, to: Double, causes: [String]) {
      self.from = from
      self.to = to
      self.causes = causes
    }
  }

  public struct Noise: Codable, Hashable, Sendable {
    /// Minutes that were louder, at their loudest 200 ms.
    public var minutes: Int
    /// dB relative to full scale.
    public var thresholdDb: Double
    /// Of the loudest minute.
    public var loudestDb: Double?

    public init(minutes: Int, thresholdDb: Double, loudestDb: Double?) {
      self.minutes = minutes
      self.thresholdDb = thresholdDb
      self.loudestDb = loudestDb
    }
  }

  public struct Loss: Codable, Hashable, Sendable {
    /// `camera`, `microphone` or `speaker`.
    public var device: String
    /// The camera's id.
    public var id: String?
    public var from: Double
    /// Nil: it has not come back.
    public var to: Double?

    public init(device: String, id: String? = nil, from: Double, to: Double? = nil) {
      self.device = device
      self.id = id
      self.from = from
      self.to = to
    }
  }

  /// What rang at a parent, by the parent's clock.
  public struct Alarm: Codable, Hashable, Sendable {
    public var name: String
    public var kind: String
    public var level: String
    public var began: Double
    public var acknowledgedAt: Double?

    public init(name: String, kind: String, level: String, began: Double, acknowledgedAt: Double? = nil) {
      self.name = name
      self.kind = kind
      self.level = level
      self.began = began
      self.acknowledgedAt = acknowledgedAt
    }
  }

  public struct Proof: Codable, Hashable, Sendable {
    /// `hearing` or `drill`.
    public var kind: String
    public var time: Double
    public var level: String?
    public var name: String?
    public var detail: String?

    public init(kind: String, time: Double, level: String? = nil, name: String? = nil, detail: String? = nil) {
      self.kind = kind
      self.time = time
      self.level = level
      self.name = name
      self.detail = detail
    }
  }

  /// Minute by minute, from `from` of the report on.
  public struct Timeline: Codable, Hashable, Sendable {
    /// The loudest 200 ms of each minute, dB below full scale: 0...100. -1: the microphone delivered nothing; -2: the child
    /// did not run.
    public var levels: [Int]
    public var listeners: [Listener]

    public struct Listener: Codable, Hashable, Sendable {
      public var name: String
      /// Lengths in minutes: not received, received, not received, and so on.
      public var runs: [Int]

      public init(name: String, runs: [Int]) {
        self.name = name
        self.runs = runs
      }
    }

    public init(levels: [Int], listeners: [Listener]) {
      self.levels = levels
      self.listeners = listeners
    }

    public static let microphoneSilent = -1
    public static let childOff = -2
  }

  /// Whether its times and minutes go together: at most a year, of which no more can have been recorded, heard or noisy
  /// than has passed. Each number has been checked for itself.
  public var isPossible: Bool {
    let length = to - from
    // The first and the last minute are whole ones.
    guard 0...ControlLimits.reportSeconds.upperBound ~= length, Double(minutes) <= length / 60 + 2 else { return false }
    let parts = [recordedMinutes, monitoredMinutes, noise.minutes] + parents.map(\.minutes)
    return minutes >= 0 && parts.allSatisfy { 0 <= $0 && $0 <= minutes }
      && ([longestGap].compactMap(\.self) + gaps).allSatisfy { $0.from <= $0.to }
      && (timeline?.levels.count ?? 0) <= minutes
  }

  public init(
    from: Double, to: Double, minutes: Int, recordedMinutes: Int, monitoredMinutes: Int, parents: [Parent],
    longestGap: Gap?, gaps: [Gap], noise: Noise, losses: [Loss], alarms: [Alarm], proofs: [Proof], restarts: Int,
    reconnects: Int, timeline: Timeline?
  ) {
    self.from = from
    self.to = to
    self.minutes = minutes
    self.recordedMinutes = recordedMinutes
    self.monitoredMinutes = monitoredMinutes
    self.parents = parents
    self.longestGap = longestGap
    self.gaps = gaps
    self.noise = noise
    self.losses = losses
    self.alarms = alarms
    self.proofs = proofs
    self.restarts = restarts
    self.reconnects = reconnects
    self.timeline = timeline
  }

  /// The same with the least important part left out; nil when nothing can be.
  public var shortened: ReportDocument? {
    var shorter = self
    if !(proofs.isEmpty && alarms.isEmpty && losses.isEmpty) {
      shorter.proofs = Array(proofs.suffix(proofs.count / 2))
      shorter.alarms = Array(alarms.suffix(alarms.count / 2))
      shorter.losses = Array(losses.suffix(losses.count / 2))
    } else if timeline != nil {
      shorter.timeline = nil
    } else if !(parents.isEmpty && gaps.isEmpty) {
      shorter.parents = Array(parents.prefix(parents.count / 2))
      shorter.gaps = []
    } else {
      return nil
    }
    return shorter
  }
}
