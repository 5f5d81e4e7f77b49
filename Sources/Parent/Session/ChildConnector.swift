internal import Meeting
internal import NIOCore
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// Reaches a paired child: at its addresses, and soon after that at its meeting places. The first line that is open is
/// taken. A place where the child is not is asked once more, and again while its own addresses are being tried: the child may be
/// coming back, as when its network or the place has changed. Confined to the event loop.
final class ChildConnector {
  enum Outcome {
    case connected(RoomLine)
    /// For a person.
    case unreachable(String)
  }

  /// At home an answer takes a fraction of this, and nobody outside is asked.
  static let headStart: TimeAmount = .milliseconds(300)
  /// Before a place is asked again.
  private static let pause: TimeAmount = .seconds(1)

  private let child: PairedChild
  private let client: String
  private let loop: any EventLoop
  private let completion: (Outcome) -> Void
  private let notAtPlaces: (String) -> Void
  private var direct: RoomConnector?
  private var start: Scheduled<Void>?
  /// By number of the place; those that have failed are gone.
  private var links: [Int: any MeetingLink] = [:]
  private var hasBegunMeeting = false
  /// Why the child is not reached at its own addresses.
  private var directFailure: String?
  /// What each place said last.
  private var failures: [Int: String] = [:]
  /// How often each place did not have the child, and those that are asked again.
  private var absences: [Int: Int] = [:]
  private var waiting: [Int: Scheduled<Void>] = [:]
  private var isTold = false

  /// Starts at once, with the address `first` if there is one. `completion` is called once, never from within this call.
  ///
  /// - Parameters:
  ///   - client: the name of the session's room client.
  ///   - notAtPlaces: called at most once, when the child is at no meeting place while its addresses are still being
  ///     tried; for a person.
  init(
    _ child: PairedChild, client: String, first: ChildAddress? = nil, eventLoop: any EventLoop,
    notAtPlaces: @escaping (String) -> Void = { _ in }, then completion: @escaping (Outcome) -> Void
  ) {
    self.child = child
    self.client = client
    self.completion = completion
    self.notAtPlaces = notAtPlaces
    loop = eventLoop
    direct = RoomConnector(child, first: first, eventLoop: eventLoop) { [weak self] outcome in self?.tried(outcome) }
    guard !child.away.meetings.isEmpty else {
      hasBegunMeeting = true
      return
    }
    // Where it had to be met last time, from this very address, there is no use in waiting for its home to answer.
    let isProbablyAway =
      child.away.metFrom.map { LocalAddresses.current(includingLoopback: false).contains($0) } ?? false
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    start = eventLoop.scheduleTask(in: isProbablyAway ? .zero : Self.headStart) { bound.value.meet() }
  }

  /// Gives up. `completion` is not called any more.
  func cancel() {
    start?.cancel()
    direct?.cancel()
    direct = nil
    for link in links.values { link.close() }
    links = [:]
    for next in waiting.values { next.cancel() }
    waiting = [:]
  }

  private func tried(_ outcome: RoomConnector.Outcome) {
    direct = nil
    switch outcome {
    case .connected(let socket, let address): finish(.connected(RoomLine(socket, to: address)))
    case .unreachable(let reason):
      directFailure = reason
      meet()
      for (number, next) in waiting where absences[number] != 1 {
        next.cancel()
        waiting[number] = nil
      }
      concludeIfOver()
    }
  }

  private func meet() {
    guard !hasBegunMeeting else { return }
    hasBegunMeeting = true
    start?.cancel()
    for (number, place) in child.away.meetings.enumerated() { meet(at: place, number) }
  }

  private func meet(at place: MeetingPlace, _ number: Int) {
    let link = place.link(child: child.record.id, client: client, eventLoop: loop)
    links[number] = link
    link.open { [weak self] failure in self?.tried(place, number, failure) }
  }

  private func tried(_ place: MeetingPlace, _ number: Int, _ failure: MeetingFailure?) {
    guard let link = links.removeValue(forKey: number) else { return }
    guard let failure else { return finish(.connected(RoomLine(link, at: place))) }
    failures[number] = "\(place): \(failure)"
    if failure == .absent { wait(for: place, number) }
    if direct != nil, !isTold, failures.count == child.away.meetings.count {
      isTold = true
      notAtPlaces(reasons.joined(separator: "; "))
    }
    concludeIfOver()
  }

  private func wait(for place: MeetingPlace, _ number: Int) {
    absences[number, default: 0] += 1
    guard direct != nil || absences[number] == 1 else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    waiting[number] = loop.scheduleTask(in: Self.pause) {
      bound.value.waiting[number] = nil
      bound.value.meet(at: place, number)
    }
  }

  private var reasons: [String] { failures.sorted { $0.key < $1.key }.map(\.value) }

  private func concludeIfOver() {
    guard direct == nil, links.isEmpty, waiting.isEmpty, let directFailure else { return }
    finish(.unreachable(([directFailure] + reasons).joined(separator: "; at its meeting place ")))
  }

  private func finish(_ outcome: Outcome) {
    cancel()
    completion(outcome)
  }
}
