internal import Meeting
internal import NIOCore
internal import NIOPosix
internal import Pairing
internal import Signaling
internal import Wire

/// The paired children, and whether they are at their meeting places now.
public struct PresenceList {
  private let state: ParentState

  public init(state: ParentState) {
    self.state = state
  }

  /// Whether any child has a meeting place, so that looking takes a moment.
  public func needsLooking() throws -> Bool {
    let records = try state.pairs().records
    return records.contains { !AwayNotes(child: $0.id, state: state).meetings.isEmpty }
  }

  public struct Result: Sendable {
    public var children: [ChildListing]
    /// Meeting places that do not answer, and why, for a person.
    public var unreachable: [String]
  }

  /// Asks every meeting place at once, for as long as somebody waits for a list.
  public func look(within limit: Duration = .seconds(5)) async throws -> Result {
    var book = try state.pairs()
    // Noted while the clock was far ahead; it is put right on disk when a child is next met.
    if UnixTime.now >= TrustedClock.earliest { _ = book.correctLastSeen(to: .now) }
    let records = book.records
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let state = state
    let (presences, unreachable) = await withTaskGroup(of: (String, MeetingPlace, MeetingFailure?).self) { tasks in
      for record in records {
        for place in AwayNotes(child: record.id, state: state).meetings {
          tasks.addTask {
            let limit = TimeAmount.nanoseconds(limit.nanoseconds)
            return (record.id, place, await MeetingProbe.run(place, child: record.id, within: limit, on: loop))
          }
        }
      }
      var best: [String: String] = [:]
      var unreachable: Set<String> = []
      for await (id, place, failure) in tasks {
        switch failure {
        case nil: best[id] = "present"
        case .absent?: if best[id] != "present" { best[id] = "absent" }
        case .unreachable(let reason)?:
          best[id] = best[id] ?? "unreachable"
          unreachable.insert("\(place): \(reason)")
        }
      }
      return (best, unreachable.sorted())
    }
    try? await group.shutdownGracefully()
    let children = records.map { record in
      var listing = ChildListing(record)
      listing.presence = presences[record.id]
      return listing
    }
    return Result(children: children, unreachable: unreachable)
  }
}
