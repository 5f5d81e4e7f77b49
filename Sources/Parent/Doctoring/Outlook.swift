public import Health

/// What a parent may expect of a link, in plain words, from what was measured.
public struct Outlook: Hashable, Sendable {
  public enum Grade: String, Comparable, Sendable {
    case good, usable, poor
    /// Nothing came.
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
  public var words: String
  /// What stands behind it, one for each thing measured.
  public var findings: [Finding]

  // A tenth of a second is not felt; up to 150 ms one way speaking still goes well, beyond 400 ms it does not
  // (ITU-T G.114, section 4).
  static let roundTrip = (good: 100.0, usable: 300.0)
  // One retransmission mends what is lost as long as it is seldom lost too; from 5 % on some is, and Opus' own repair
  // leaves gaps as well.
  static let loss = (good: 1.0, usable: 5.0)
  /// Shares of the pings. A single late one in ten seconds is a neighbour's Wi-Fi.
  static let spikes = (good: 0.02, usable: 0.1)
  /// Shares of the time.
  static let freezes = (good: 0.005, usable: 0.05)
  /// Percent. What is made up for is hardly heard below the first and spoils words above the second.
  static let concealed = (good: 1.0, usable: 5.0)

  private static let closer =
    "Bring child or access point closer to each other, choose 5 GHz for both, or use a cable."
  private static let powerSaving =
    "Switch off power saving of Wi-Fi at both ends: `sudo cradle-child doctor` on the child shows how."
  private static let traffic = "See what else fills the line: a download, a backup, another video."

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
        "\(Self.text(trip.p50)) ms, at worst \(Self.text(trip.max)) ms (\(figures.pings) pings)", Self.traffic)
      let share = Double(figures.spikes + figures.unanswered) / Double(max(1, figures.pings + figures.unanswered))
      var text = figures.spikes == 0 ? "none" : "\(figures.spikes) of \(figures.pings) answers came 150 ms late or more"
      if figures.unanswered > 0 { text += ", \(figures.unanswered) did not come" }
      // What was lost comes late, because orders are sent again; else it is radios that sleep.
      let isLossy = (figures.lostPercent ?? 0) > Self.loss.good
      add("spikes", Self.grade(share, Self.spikes), text, isLossy ? Self.closer : Self.powerSaving)
    } else {
      add("round trip", .nothing, "the child answered no ping", Self.closer)
    }
    if let lost = figures.lostPercent {
      add(
        "loss", Self.grade(lost, Self.loss),
        "\(Self.text(lost)) % of \(figures.packetsReceived) packets, \(figures.packetsRecovered) brought later",
        Self.closer)
    }
    if wantsPicture {
      if let rate = figures.framesPerSecond, let width = figures.width, let height = figures.height {
        let share = figures.freezeMs / 1000 / max(1, figures.seconds)
        let stalls =
          figures.freezeCount == 0
          ? "no freeze" : "\(figures.freezeCount) freezes, \(Self.text(figures.freezeMs / 1000)) s in all"
        add(
          "picture", Self.grade(share, Self.freezes), "\(width)x\(height), \(Int(rate)) a second, \(stalls)",
          Self.closer)
      } else {
        add("picture", .nothing, "none came", "sudo cradle-child doctor   # on the child")
      }
    }
    if wantsSound {
      if let concealed = figures.concealedPercent {
        add(
          "sound", Self.grade(concealed, Self.concealed), "\(Self.text(concealed)) % had to be made up", Self.closer)
      } else {
        add("sound", .nothing, "none came", "sudo cradle-child doctor   # on the child")
      }
    }
    if figures.reconnects > 0 {
      add("link", .poor, "it broke \(figures.reconnects) times", Self.closer)
    }
    grade = parts.map(\.0).max() ?? .nothing
    findings = parts.map(\.1)
    words = Self.words(grade, figures)
  }

  private static func words(_ grade: Grade, _ figures: LinkFigures) -> String {
    // Rounded up: nobody minds being told more than it is.
    let behind = figures.behindMs.map { "picture about \(text(max(1, ($0 / 100).rounded(.up)) / 10)) s behind" }
    switch grade {
    case .good: return "Good: " + (behind ?? "orders and sound go through at once") + ", without gaps."
    case .usable: return "Usable: " + (behind.map { $0 + ", " } ?? "") + "with a gap now and then."
    case .poor:
      return "Poor: " + (behind.map { $0 + ", " } ?? "") + "with gaps that will be missed. Mend it before a night."
    case .nothing: return "Nothing to rely on: something did not come at all."
    }
  }

  private static func grade(_ value: Double, _ limits: (good: Double, usable: Double)) -> Grade {
    value <= limits.good ? .good : value <= limits.usable ? .usable : .poor
  }

  /// `3`, `0.4`.
  private static func text(_ value: Double) -> String {
    let tenths = (value * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
  }
}
