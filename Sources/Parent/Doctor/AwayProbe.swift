internal import Frames
internal import Health
internal import Meeting
internal import NIOCore
internal import NIOPosix
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// How this machine reaches a child from outside its house: the meeting places and servers that the child has announced.
struct AwayProbe {
  let child: PairedChild

  func run(_ saying: (String) -> Void, found: (Finding) -> Void) async {
    let (meetings, servers) = (child.away.meetings, child.away.servers)
    guard !meetings.isEmpty || !servers.isEmpty else {
      return found(
        Finding(
          "from elsewhere", .unknown,
          "the child has named no meeting place and no server, so it is reached at home or by VPN"))
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    if !meetings.isEmpty { saying("Looking at the meeting places …") }
    for finding in await findings(meetings, on: loop) { found(finding) }
    if !servers.isEmpty {
      saying("Trying the STUN and TURN servers …")
      let verdict = await NetworkProbe.run(servers, on: loop, now: { MonotonicClock.now })
      for case .failed(let reason) in verdict.answers.map(\.outcome) {
        found(Finding("server", .warning, reason, remedy: "sudo cradle-child away   # on the child"))
      }
      found(
        Finding(
          "from elsewhere", verdict.isUnreachable ? .warning : .ok, "this network: \(verdict.summary)",
          remedy: verdict.isUnreachable ? "A VPN, or a TURN server that is reached over TLS: docs/OPERATORS.md." : nil))
    }
    try? await group.shutdownGracefully()
  }

  /// All at once, as each may take its time.
  private func findings(_ places: [MeetingPlace], on loop: any EventLoop) async -> [Finding] {
    let id = child.record.id
    var findings: [Int: Finding] = [:]
    await withTaskGroup(of: (Int, Finding).self) { tasks in
      for (number, place) in places.enumerated() {
        tasks.addTask { (number, Self.finding(place, await MeetingProbe.call(id, at: place, on: loop))) }
      }
      for await (number, finding) in tasks { findings[number] = finding }
    }
    return findings.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func finding(_ place: MeetingPlace, _ answer: MeetingProbe.Answer) -> Finding {
    let what = "meeting place"
    let there = "sudo cradle-child away   # on the child"
    return switch answer {
    case .answered: Finding(what, .ok, "\(place): the child is there and answers")
    case .unanswered:
      Finding(
        what, .problem, "\(place): the child is there, but a message to it and back did not arrive", remedy: there)
    case .failed(.absent): Finding(what, .problem, "\(place): the child is not there", remedy: there)
    case .failed(.unreachable(let reason)):
      Finding(what, .warning, "\(place): \(reason)", remedy: "Is this network connected? Then look at that server.")
    }
  }
}
