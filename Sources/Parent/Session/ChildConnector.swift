internal import Meeting
internal import NIOCore
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// Reaches a paired child: at its addresses, and soon after that at its meeting places. The first line that is open is
/// taken. Confined to the event loop.
final class ChildConnector {
  enum Outcome {
    case connected(RoomLine)
    /// For a person.
    case unreachable(String)
  }

  /// At home an answer takes a fraction of this, and nobody outside is asked.
  static let headStart: TimeAmount = .milliseconds(300)

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
  private var failures: [String] = []

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
  }

  private func tried(_ outcome: RoomConnector.Outcome) {
    direct = nil
    switch outcome {
    case .connected(let socket, let address): finish(.connected(RoomLine(socket, to: address)))
    case .unreachable(let reason):
      directFailure = reason
      meet()
      concludeIfOver()
    }
  }

  private func meet() {
    guard !hasBegunMeeting else { return }
    hasBegunMeeting = true
    start?.cancel()
    for (number, place) in child.away.meetings.enumerated() {
      let link = place.link(child: child.record.id, client: client, eventLoop: loop)
      links[number] = link
      link.open { [weak self] failure in self?.tried(place, number, failure) }
    }
  }

  private func tried(_ place: MeetingPlace, _ number: Int, _ failure: MeetingFailure?) {
    guard let link = links.removeValue(forKey: number) else { return }
    guard let failure else { return finish(.connected(RoomLine(link, at: place))) }
    failures.append("\(place): \(failure)")
    if links.isEmpty, direct != nil { notAtPlaces(failures.joined(separator: "; ")) }
    concludeIfOver()
  }

  private func concludeIfOver() {
    guard direct == nil, links.isEmpty, let directFailure else { return }
    finish(.unreachable(([directFailure] + failures).joined(separator: "; at its meeting place ")))
  }

  private func finish(_ outcome: Outcome) {
    cancel()
    completion(outcome)
  }
}
