internal import NIOCore
internal import Signaling
internal import Wire

/// The child at an XMPP server. interfaces/wire.md, "Meeting places".
final class XMPPHost: MeetingHostTransport {
  private let place: XMPPPlace
  private let program: MeetingProgram
  private let child: String
  private let loop: any EventLoop
  private var connection: XMPPConnection?
  private var report: (MeetingHostMachine.Input) -> Void = { _ in }
  private var isOpen = false
  private var presence = ""
  /// Full JIDs that have asked for the presence, the latest last: they are sent a newer one.
  private var watchers: [String] = []
  private var bucket = TokenBucket.ofOneConnection

  private static let mostWatchers = 64

  init(_ place: XMPPPlace, child: String, program: MeetingProgram, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    loop = eventLoop
  }

  func connect(report: @escaping (MeetingHostMachine.Input) -> Void) {
    guard place.isUsable else { return report(.lost("its password or host cannot be used")) }
    watchers = []
    isOpen = false
    self.report = report
    connection = XMPPConnection(place, resource: XMPPPlace.resource, program: program, eventLoop: loop) {
      [weak self] event in
      self?.handle(event)
    }
  }

  func send(_ request: RoomRequest) {
    switch request {
    case .announce(let presence): announce(presence)
    case .send(let client, let message): send(to: client) { .message(message, to: $0) }
    case .dismiss(let client, let reason): send(to: client) { .message(reason, kind: "refused", to: $0) }
    // The server lets everybody stay.
    case .register, .prove, .vouch: break
    }
  }

  private func announce(_ presence: String) {
    self.presence = presence
    for watcher in watchers { connection?.order(.presence(presence, of: child, to: watcher)) }
  }

  func drop() {
    connection?.abandon()
    connection = nil
  }

  func leave(then done: @escaping () -> Void) {
    if isOpen, let connection { return connection.leave(nil, then: done) }
    drop()
    let bound = NIOLoopBound(done, eventLoop: loop)
    loop.execute { bound.value() }
  }

  /// A client's name is its resource, which the server vouches for.
  private func send(to client: String, _ stanza: (String) -> XMPPStanza) {
    guard MeetingTopics.isClient(client) else { return }
    let account = place.parents ?? place.account
    let latest = watchers.last { $0.hasSuffix("/\(client)") }
    connection?.order(stanza(latest ?? account.at(client)))
  }

  private func handle(_ event: XMPPConnection.Event) {
    switch event {
    case .open:
      isOpen = true
      report(.connected)
      // The server has nothing to accept: whoever wants the presence asks for it.
      report(.present)
    case .received(let incoming): receive(incoming)
    case .closed(let reason), .tooCostly(let reason): report(.lost(reason))
    case .left: break
    }
  }

  private func receive(_ incoming: XMPPIncoming) {
    guard let client = client(incoming.from) else {
      if case .question = incoming.kind { connection?.order(.refusal(of: incoming)) }
      return
    }
    guard case .admitted = bucket.admit(now: .ofEventLoop) else { return }
    switch incoming.kind {
    case .question:
      watchers.removeAll { $0 == incoming.from }
      if watchers.count >= Self.mostWatchers { watchers.removeFirst() }
      watchers.append(incoming.from)
      connection?.order(.answer(presence, of: child, to: incoming))
      // From now on the server notifies it when we have gone.
      connection?.order(.presence(presence, of: child, to: incoming.from))
    case .message(let text):
      report(.message(from: client, text))
    case .presence(nil):
      watchers.removeAll { $0 == incoming.from }
    case .presence, .refusal, .answer, .bounced, .unknown:
      break
    }
  }

  /// The name of a client of our own account or the parents'; nil for strangers.
  private func client(_ address: String) -> String? {
    let parts = address.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let account = AccountAddress(String(parts[0])),
      account == place.account || account == place.parents
    else { return nil }
    let name = String(parts[1])
    return MeetingTopics.isClient(name) && !(account == place.account && name == XMPPPlace.resource) ? name : nil
  }
}
