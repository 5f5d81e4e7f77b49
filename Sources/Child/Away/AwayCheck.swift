internal import Frames
public import Health
internal import Meeting
internal import NIOCore
internal import NIOPosix
internal import SecureTransport
public import Server
internal import Signaling
public import Storage
internal import TURN
internal import Wire

/// How the child is reached from elsewhere: every meeting place, every address of the STUN and TURN servers, and what the
/// house's router does. For `away` and `doctor`, beside the daemon.
public struct AwayCheck: Sendable {
  private let configuration: ChildConfiguration
  /// The child's id, where it is known.
  private let child: String?
  /// What the daemon says; nil without one.
  private let report: AwayReport?

  public init(configuration: ChildConfiguration, child: String?, report: AwayReport?) {
    self.configuration = configuration
    self.child = child
    self.report = report
  }

  /// There is something to check.
  public var isConfigured: Bool {
    !configuration.away.meetings.isEmpty || !configuration.iceServers.isEmpty || !(report?.meetings ?? []).isEmpty
  }

  public struct Outcome: Sendable {
    /// What keeps parents from the child, for each meeting place that does.
    public var problems: [String: String] = [:]
    /// What the STUN and TURN servers say; nil without any.
    public var servers: NetworkVerdict?
  }

  /// Reports each finding as it comes.
  ///
  /// - Parameter looking: called with what is tried next, for progress output.
  @discardableResult
  public func run(looking: (String) -> Void, found: (Finding) -> Void) async -> Outcome {
    var outcome = Outcome()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    if !configuration.away.meetings.isEmpty { looking("the meeting places") }
    for (place, finding) in await places(on: loop) {
      if finding.state == .problem { outcome.problems[place] = finding.detail }
      found(finding)
    }
    // Those of a daemon that has read another file, or this one before it was changed.
    let configured = Set(configuration.away.meetings.map(\.url))
    for meeting in report?.meetings ?? [] where !configured.contains(meeting.place) { found(Self.finding(meeting)) }
    let (servers, problems) = servers
    problems.forEach(found)
    if !servers.isEmpty {
      looking("the STUN and TURN servers")
      let seen = await NetworkProbe.run(servers, on: loop, now: { MonotonicClock.now })
      seen.answers.map(Self.finding).forEach(found)
      found(Self.finding(seen))
      outcome.servers = seen
    }
    try? await group.shutdownGracefully()
    return outcome
  }

  private var servers: ([ICEServer], [Finding]) {
    var problems: [Finding] = []
    let servers = configuration.iceServers.compactMap { entry -> ICEServer? in
      do throws(ConfiguredValueError) {
        return try entry.server(
          for: "check", lifetime: .seconds(600), clock: MonotonicClock.wallClockReference, now: MonotonicClock.now,
          hashes: CryptoHashes())
      } catch {
        problems.append(Finding("ice-servers", .problem, "\(error)", remedy: "sudo cradle-child check"))
        return nil
      }
    }
    return (servers, problems)
  }

  /// All at once, as each may take its time.
  private func places(on loop: any EventLoop) async -> [(place: String, Finding)] {
    let meetings = configuration.away.meetings
    var findings: [Int: Finding] = [:]
    await withTaskGroup(of: (Int, Finding).self) { tasks in
      for (number, meeting) in meetings.enumerated() {
        tasks.addTask { (number, await finding(meeting, loop)) }
      }
      for await (number, finding) in tasks { findings[number] = finding }
    }
    return meetings.enumerated().compactMap { number, meeting in findings[number].map { (meeting.url, $0) } }
  }

  private func finding(_ meeting: ChildConfiguration.Meeting, _ loop: any EventLoop) async -> Finding {
    let name = meeting.url
    let known = report?.meetings.first { $0.place == name }
    if let known, known.state != "present" { return Self.finding(known) }
    let place: MeetingPlace
    do {
      try NamedFilesCheck.read(meeting)
      place = try MeetingPlace(meeting, access: meeting.parents ?? meeting.access)
    } catch {
      return Finding(Self.what, .problem, "\(name): \(error)", remedy: "sudo cradle-child check")
    }
    // As a parent would come, with its account and over a connection of its own: that the child is there says nothing of what
    // the server lets parents do.
    guard let child, known != nil else {
      return Self.finding(name, await MeetingProbe.run(place, child: child ?? "0000000000000000", on: loop))
    }
    return Self.finding(place, name, await MeetingProbe.call(child, at: place, on: loop), child)
  }

  private static let what = "meeting place"

  /// Without a daemon.
  private static func finding(_ name: String, _ failure: MeetingFailure?) -> Finding {
    switch failure {
    case nil: Finding(what, .ok, "\(name): the child is there")
    case .absent?:
      Finding(
        what, .ok,
        "\(name): it answers. Whether messages reach the child there is tried while the daemon runs")
    case .unreachable(let reason)?: unreachable(name, reason)
    }
  }

  /// The daemon is there.
  private static func finding(
    _ place: MeetingPlace, _ name: String, _ answer: MeetingProbe.Answer, _ child: String
  ) -> Finding {
    switch answer {
    case .answered:
      Finding(what, .ok, "\(name): present; a parent's message reaches the child, and its answer the parent")
    case .unanswered:
      Finding(
        what, .problem,
        "\(name): parents see the child there, but a message to it and back did not arrive in 5 s",
        remedy: place.accessRemedy(child))
    case .failed(.absent):
      Finding(
        what, .problem, "\(name): the child is there, but parents do not see it", remedy: place.accessRemedy(child))
    case .failed(.unreachable(let reason)):
      Finding(
        what, .problem, "\(name): the child is there, but parents do not get in: \(reason)",
        remedy: place.accessRemedy(child))
    }
  }

  private static func unreachable(_ name: String, _ reason: String) -> Finding {
    Finding(what, .problem, "\(name): \(reason)", remedy: "Look at the server, and at `meetings` in child.yaml.")
  }

  /// What the daemon says.
  private static func finding(_ known: AwayReport.Meeting) -> Finding {
    switch known.state {
    case "present": Finding(what, .ok, "\(known.place): present")
    case "connecting": Finding(what, .unknown, "\(known.place): still connecting")
    default: unreachable(known.place, known.reason ?? "absent")
    }
  }

  private static func finding(_ answer: ServerAnswer) -> Finding {
    switch answer.outcome {
    case .mapped(let address): Finding("server", .ok, "\(answer.url): sees this machine as \(address)")
    case .relayed(let address): Finding("server", .ok, "\(answer.url): relays at \(address)")
    case .failed(let reason):
      Finding(
        "server", .warning, "\(answer.url): \(reason)",
        remedy: "Look at the server, and at `ice-servers` in child.yaml.")
    }
  }

  static func finding(_ verdict: NetworkVerdict) -> Finding {
    let state: Finding.State =
      verdict.isUnreachable ? .problem : verdict.mapping == .endpointDependent && !verdict.hasRelay ? .warning : .ok
    return Finding(
      "from elsewhere", state, verdict.summary,
      remedy: state == .ok ? nil : "Name a TURN server under `ice-servers` in child.yaml: docs/OPERATORS.md.")
  }
}

extension MeetingPlace {
  /// What the server has to allow.
  fileprivate func accessRemedy(_ child: String) -> String {
    switch self {
    case .rendezvous: "Look at the server's log, and whether a proxy is between."
    case .mqtt(let place):
      "Let the child's account read \(place.topic)/\(child)/in and write \(place.topic)/\(child)/presence and "
        + "\(place.topic)/\(child)/out/+, and the parents' account the other way round: config/mosquitto/cradle.acl."
    case .xmpp(let place):
      place.account == place.child
        ? "Let \(place.child) send messages and questions (IQ) to itself."
        : "Let \(place.child) and \(place.account) send each other messages and questions (IQ), also as strangers to each other."
    }
  }
}
