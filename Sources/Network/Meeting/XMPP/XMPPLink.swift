internal import NIOCore
internal import Signaling
internal import Wire

/// A parent at an XMPP server: it asks the child's account for its presence, and sends messages to it.
final class XMPPLink: MeetingLinkTransport {
  private let place: XMPPPlace
  private let program: MeetingProgram
  private let child: String
  private let client: String
  private let loop: any EventLoop
  private var connection: XMPPConnection?

  private static let question = "cradle-presence"

  init(_ place: XMPPPlace, child: String, client: String, program: MeetingProgram, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    self.client = client
    loop = eventLoop
  }

  private var address: String { place.child.at(XMPPPlace.resource) }

  func connect(report: @escaping (MeetingLinkMachine.Input) -> Void) {
    guard place.isUsable, MeetingTopics.isClient(client) else {
      return report(.lost("its password or host cannot be used"))
    }
    connection = XMPPConnection(place, resource: client, program: program, eventLoop: loop) { [weak self] event in
      if let input = self?.input(event) { report(input) }
    }
  }

  func ask() {
    connection?.order(.question(Self.question, to: address))
  }

  func send(_ request: RoomRequest) {
    if case .send(child, let message) = request { connection?.order(.message(message, to: address)) }
  }

  func drop() { connection?.abandon() }

  func leave() { connection?.leave() }

  private func input(_ event: XMPPConnection.Event) -> MeetingLinkMachine.Input? {
    switch event {
    case .open: .connected
    case .received(let incoming): incoming.from == address ? input(incoming) : nil
    case .closed(let reason), .tooCostly(let reason): .lost(reason)
    case .left: nil
    }
  }

  private func input(_ incoming: XMPPIncoming) -> MeetingLinkMachine.Input? {
    switch incoming.kind {
    case .message(let text): .reply(.message(RoomDelivery(from: child, message: text)))
    case .refusal(let reason): .reply(.error(RoomError(.refused, reason.printable())))
    case .presence(let statement): .presence(statement)
    case .answer(let statement) where incoming.id == Self.question: statement.map { .presence($0) } ?? .absent
    case .bounced: .reply(.error(RoomError(.undelivered, "the server does not deliver messages to the camera")))
    case .question, .answer, .unknown: nil
    }
  }
}
