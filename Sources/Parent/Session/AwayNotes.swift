internal import Control
internal import Frames
internal import Meeting
internal import Storage
internal import Synchronization
internal import TURN
internal import Wire

/// How one child is reached from elsewhere, as it has announced; kept on disk for the next run.
final class AwayNotes: Sendable {
  private let child: String
  private let state: ParentState
  let writes = PendingWrites()
  private let known: Mutex<Known>

  private struct Known {
    var servers: [ICEServer]
    var meetings: [MeetingPlace]
    /// The latest first.
    var addresses: [ChildAddress]
    var metFrom: IPAddress?
    /// Where a session failed, and when. For this run.
    var failures: [MeetingPlace: Instant] = [:]
  }

  /// How long a meeting place that has failed comes last.
  static let demotion: Duration = .seconds(300)

  /// Reads what is known from before. What cannot be read comes again at home.
  init(child: String, state: ParentState) {
    self.child = child
    self.state = state
    let store = try? state.away()
    known = Mutex(
      Known(
        servers: (store?.servers(of: child) ?? []).compactMap { ICEServer($0) },
        meetings: (store?.meetings(of: child) ?? []).compactMap(MeetingPlace.init),
        addresses: (store?.addresses(of: child) ?? []).compactMap(ChildAddress.init),
        metFrom: store?.metFrom(of: child).flatMap(IPAddress.init)))
  }

  var servers: [ICEServer] { known.withLock { $0.servers } }
  /// Where the child is met.
  var meetings: [MeetingPlace] { known.withLock { $0.meetings } }
  /// Our own address when the child was last met at a meeting place: whoever still has it is probably still away.
  var metFrom: IPAddress? { known.withLock { $0.metFrom } }
  /// Where the child was reached from elsewhere.
  var addresses: [ChildAddress] { known.withLock { $0.addresses } }

  /// Takes over what the child announces now.
  func follow(_ document: AwayDocument) {
    let servers = document.iceServers
    let usable = servers.compactMap { ICEServer($0) }
    let announced = document.meetings ?? []
    let meetings = announced.compactMap(MeetingPlace.init)
    let isNew = known.withLock { known in
      defer { (known.servers, known.meetings) = (usable, meetings) }
      return known.servers != usable || known.meetings != meetings
    }
    let child = child
    if isNew { write { try $0.remember(servers, meetings: announced, of: child) } }
  }

  /// The child was reached there, from elsewhere.
  func note(_ address: ChildAddress) {
    let isNew = known.withLock { known in
      guard known.addresses.first != address else { return false }
      known.addresses = [address] + known.addresses.filter { $0 != address }
      return true
    }
    let child = child
    if isNew { write { try $0.remember(address: "\(address)", of: child) } }
  }

  /// - Parameter own: our address when the child was met at a meeting place; nil: it was reached without one.
  func note(metFrom own: IPAddress?) {
    let isNew = known.withLock { known in
      defer { known.metFrom = own }
      return known.metFrom != own
    }
    let child = child
    if isNew { write { try $0.remember(metFrom: own?.description, of: child) } }
  }

  /// The numbers of the places that have failed lately.
  func demoted(now: Instant) -> Set<Int> {
    known.withLock { known in
      Set(
        known.meetings.indices.filter { index in
          known.failures[known.meetings[index]].map { now - $0 < Self.demotion } ?? false
        })
    }
  }

  /// A session could not begin there, or could not go on.
  func note(failedAt place: MeetingPlace) {
    let now = MonotonicClock.now
    known.withLock { known in
      known.failures = known.failures.filter { known.meetings.contains($0.key) }
      known.failures[place] = now
    }
  }

  /// A session began there.
  func note(workedAt place: MeetingPlace) {
    known.withLock { $0.failures[place] = nil }
  }

  private func write(_ change: @escaping @Sendable (inout AwayStore) throws -> Void) {
    let state = state
    writes.add { try? state.changeAway(change) }
  }
}
