internal import Meeting
internal import NIOCore
internal import NIOPosix
internal import Pairing
internal import Signaling

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

  /// Asks every meeting place. Takes some seconds at most.
  public func children() async throws -> [ChildListing] {
    var book = try state.pairs()
    // Noted while the clock was far ahead; it is put right on disk when a child is next met.
    if UnixTime.now >= TrustedClock.earliest { _ = book.correctLastSeen(to: .now) }
    let records = book.records
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let state = state
    let presences = await withTaskGroup(of: (String, MeetingFailure?).self) { tasks in
      for record in records {
        for place in AwayNotes(child: record.id, state: state).meetings {
          tasks.addTask { (record.id, await MeetingProbe.run(place, child: record.id, on: loop)) }
        }
      }
      var best: [String: String] = [:]
      for await (id, failure) in tasks {
        switch failure {
        case nil: best[id] = "present"
        case .absent?: if best[id] != "present" { best[id] = "absent" }
        case .unreachable?: best[id] = best[id] ?? "unreachable"
        }
      }
      return best
    }
    try? await group.shutdownGracefully()
    return records.map { record in
      var listing = ChildListing(record)
      listing.presence = presences[record.id]
      return listing
    }
  }
}
