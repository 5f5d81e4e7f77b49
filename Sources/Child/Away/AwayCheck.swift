internal import Frames
public import Health
internal import Meeting
internal import NIOCore
internal import NIOPosix
internal import SecureTransport
public import Server
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

  /// Reports each finding as it comes.
  ///
  /// - Parameter looking: called with what is tried next, for progress output.
  /// - Returns: what the servers say; nil without any.
  @discardableResult
  public func run(looking: (String) -> Void, found: (Finding) -> Void) async -> NetworkVerdict? {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    if !configuration.away.meetings.isEmpty { looking("the meeting places") }
    for meeting in configuration.away.meetings { found(await Self.finding(meeting, child, report, loop)) }
    // Those of a daemon that has read another file, or this one before it was changed.
    let configured = Set(configuration.away.meetings.map(\.url))
    for meeting in report?.meetings ?? [] where !configured.contains(meeting.place) { found(Self.finding(meeting)) }
    var verdict: NetworkVerdict?
    let (servers, problems) = servers
    problems.forEach(found)
    if !servers.isEmpty {
      looking("the STUN and TURN servers")
      let seen = await NetworkProbe.run(servers, on: loop, now: { MonotonicClock.now })
      seen.answers.map(Self.finding).forEach(found)
      found(Self.finding(seen))
      verdict = seen
    }
    try? await group.shutdownGracefully()
    return verdict
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

  private static func finding(
    _ meeting: ChildConfiguration.Meeting, _ child: String?, _ report: AwayReport?, _ loop: any EventLoop
  ) async -> Finding {
    let what = "meeting place"
    let name = meeting.url
    if let known = report?.meetings.first(where: { $0.place == name }) { return finding(known) }
    let place: MeetingPlace
    do {
      try NamedFilesCheck.read(meeting)
      place = try MeetingPlace(meeting, access: meeting.parents ?? meeting.access)
    } catch {
      return Finding(what, .problem, "\(name): \(error)", remedy: "sudo cradle-child check")
    }
    // As a parent would come: taking the child's place there would be no check.
    switch await MeetingProbe.run(place, child: child ?? "0000000000000000", on: loop) {
    case nil: return Finding(what, .ok, "\(name): the child is there")
    case .absent?:
      return Finding(what, .ok, "\(name): it answers; the child is not there while the daemon does not run")
    case .unreachable(let reason)?:
      return Finding(
        what, .problem, "\(name): \(reason)", remedy: "Look at the server, and at `meetings` in child.yaml.")
    }
  }

  /// What the daemon says.
  private static func finding(_ known: AwayReport.Meeting) -> Finding {
    let what = "meeting place"
    switch known.state {
    case "present": return Finding(what, .ok, "\(known.place): present")
    case "connecting": return Finding(what, .unknown, "\(known.place): still connecting")
    default:
      return Finding(
        what, .problem, "\(known.place): \(known.reason ?? "absent")",
        remedy: "Look at the server, and at `meetings` in child.yaml.")
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
      remedy: state == .ok ? nil : "Name a TURN server under `ice-servers` in child.yaml: docs/AWAY.md.")
  }
}
