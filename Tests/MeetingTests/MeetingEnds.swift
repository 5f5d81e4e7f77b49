import Meeting
import NIOCore
import Signaling

/// A child at a meeting place, with what it is told.
struct TestHost {
  let events = Observed<MeetingHostEvent>()
  private let host: Confined<MeetingHost>

  init(_ place: MeetingPlace, child: String, on loop: any EventLoop, presence: String) async throws {
    let events = events
    host = try await Confined(loop) {
      let host = place.host(child: child, program: BuiltProgram.child, eventLoop: loop) { _, _ in "" }
      host.onEvent = { events.add($0) }
      host.open(presence: presence)
      return host
    }
  }

  func present() async throws {
    try await events.next("present") { if case .present = $0 { true } else { nil } }
  }

  func absent() async throws -> String {
    try await events.next("absent") { if case .absent(let reason) = $0 { reason } else { nil } }
  }

  func message() async throws -> RoomDelivery {
    try await events.next("a message") { event in
      if case .message(let client, let text) = event { RoomDelivery(from: client, message: text) } else { nil }
    }
  }

  func run(_ body: @escaping @Sendable (MeetingHost) -> Void) async throws {
    try await host.run(body)
  }

  func close() async throws {
    let done = Observed<Void>()
    try await host.run { host in host.close { done.add(()) } }
    try await done.next("the end") { $0 }
  }
}

/// A parent at a meeting place, with what it is told.
struct TestLink {
  let replies = Observed<RoomReply>()
  let closures = Observed<String>()
  private let link: Confined<MeetingLink>

  init(_ place: MeetingPlace, child: String, client: String, on loop: any EventLoop) async throws {
    let (replies, closures) = (replies, closures)
    link = try await Confined(loop) {
      let link = place.link(child: child, client: client, program: BuiltProgram.child, eventLoop: loop)
      link.onReply = { replies.add($0) }
      link.onClose = { closures.add($0) }
      return link
    }
  }

  /// Nil once it is open.
  func open() async throws -> MeetingFailure? {
    try await beginToOpen().next("the outcome") { .some($0) }
  }

  func beginToOpen() async throws -> Observed<MeetingFailure?> {
    let outcome = Observed<MeetingFailure?>()
    try await link.run { link in link.open { outcome.add($0) } }
    return outcome
  }

  func reply() async throws -> RoomReply {
    try await replies.next("a reply") { $0 }
  }

  func send(_ request: RoomRequest) async throws {
    try await link.run { $0.send(request) }
  }

  func close() async throws {
    try await link.run { $0.close() }
  }
}
