public import Health
internal import Wire

/// How good a link is, judged from what was measured.
public struct LinkQuality: Hashable, Sendable {
  public enum Grade: String, Comparable, Sendable {
    case good, usable, poor
    /// Nothing arrived.
    case nothing

    public static func < (one: Grade, other: Grade) -> Bool { one.rank < other.rank }

    private var rank: Int {
      switch self {
      case .good: 0
      case .usable: 1
      case .poor: 2
      case .nothing: 3
      }
    }
  }

  public var grade: Grade
  /// One sentence or two.
  public var summary: String
  /// One for each thing measured.
  public var findings: [Finding]

  // Milliseconds. A tenth of a second is not noticed; conversation works well up to 150 ms one way and not beyond 400 ms
  // (ITU-T G.114, section 4).
  static let roundTrip = (good: 100.0, usable: 300.0)
  // Percent. One retransmission repairs a loss unless it is lost too. From 5 % on some are, and the error correction of
  // Opus leaves gaps as well.
  static let loss = (good: 1.0, usable: 5.0)
  /// Fractions of the pings. A single late one in ten seconds is a neighbour's Wi-Fi.
  static let spikes = (good: 0.02, usable: 0.1)
  /// Fractions of the time.
  static let freezes = (good: 0.005, usable: 0.05)
  /// Percent. Concealed loss is hardly heard below the first and makes words unclear above the second.
  static let concealed = (good: 1.0, usable: 5.0)

  private static let closer =
    "Move the baby unit or the access point closer, use 5 GHz for both, or use a cable."
  private static let powerSaving =
    "Switch off Wi-Fi power saving at both ends: `sudo cradle-child doctor` on the baby unit shows how."
  private static let traffic = "Find out what else uses the network: a download, a backup, another video."

  public init(_ figures: LinkFigures, wantsPicture: Bool, wantsSound: Bool) {
    var parts: [(Grade, Finding)] = []
    func add(_ what: String, _ grade: Grade, _ detail: String, _ remedy: String) {
      let state: Finding.State =
        switch grade {
        case .good: .ok
        case .usable: .warning
        case .poor, .nothing: .problem
        }
      parts.append((grade, Finding(what, state, detail, remedy: grade == .good ? nil : remedy)))
    }
    if let trip = figures.roundTripMs {
      add(
        "round trip", Self.grade(trip.p50, Self.roundTrip),
        "\(trip.p50.tenths.shortText) ms, at worst \(trip.max.tenths.shortText) ms (\(figures.pings) pings)",
        Self.traffic)
      let share = Double(figures.spikes + figures.unanswered) / Double(max(1, figures.pings + figures.unanswered))
      var text = figures.spikes == 0 ? "none" : "\(figures.spikes) of \(figures.pings) answers came 150 ms late or more"
      if figures.unanswered > 0 { text += ", \(figures.unanswered) did not arrive" }
      // With loss, answers are late because they were retransmitted; without, because a radio was asleep.
      let isLossy = (figures.lostPercent ?? 0) > Self.loss.good
      add("spikes", Self.grade(share, Self.spikes), text, isLossy ? Self.closer : Self.powerSaving)
    } else {
      add("round trip", .nothing, "the camera answered no ping", Self.closer)
    }
    if let lost = figures.lostPercent {
      add(
        "loss", Self.grade(lost, Self.loss),
        "\(lost.tenths.shortText) % of \(figures.packetsReceived) packets, \(figures.packetsRecovered) recovered",
        Self.closer)
    }
    if wantsPicture {
      if let rate = figures.framesPerSecond, let width = figures.width, let height = figures.height {
        let share = figures.freezeMs / 1000 / max(1, figures.seconds)
        let stalls =
          figures.freezeCount == 0
          ? "no freeze" : "\(figures.freezeCount) freezes, \((figures.freezeMs / 1000).tenths.shortText) s in all"
        add(
          "picture", Self.grade(share, Self.freezes),
          "\(width)x\(height), \(Int(saturating: rate)) a second, \(stalls)",
          Self.closer)
      } else {
        add("picture", .nothing, "none arrived", "sudo cradle-child doctor   # on the baby unit")
      }
    }
    if wantsSound {
      if let concealed = figures.concealedPercent {
        add(
          "sound", Self.grade(concealed, Self.concealed), "\(concealed.tenths.shortText) % was lost and concealed",
          Self.closer)
      } else {
        add("sound", .nothing, "none arrived", "sudo cradle-child doctor   # on the baby unit")
      }
    }
    if figures.reconnects > 0 {
      add("link", .poor, "it was lost \(figures.reconnects) times", Self.closer)
    }
    grade = parts.map(\.0).max() ?? .nothing
    findings = parts.map(\.1)
    summary = Self.summary(grade, figures)
  }

  private static func summary(_ grade: Grade, _ figures: LinkFigures) -> String {
    // Rounded up: better than promising too much.
    let behind = figures.behindMs.map { "picture about \((max(1, ($0 / 100).rounded(.up)) / 10).shortText) s behind" }
    switch grade {
    case .good: return "Good: " + (behind ?? "commands and sound get through at once") + ", without gaps."
    case .usable: return "Usable: " + (behind.map { $0 + ", " } ?? "") + "with occasional gaps."
    case .poor:
      return "Poor: " + (behind.map { $0 + ", " } ?? "")
        + "with gaps in which something can be missed. Fix it before you rely on it for a night."
    case .nothing: return "Not usable: something did not arrive at all."
    }
  }

  private static func grade(_ value: Double, _ limits: (good: Double, usable: Double)) -> Grade {
    value <= limits.good ? .good : value <= limits.usable ? .usable : .poor
  }
}
