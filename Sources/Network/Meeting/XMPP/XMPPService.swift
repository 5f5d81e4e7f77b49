internal import Glibc
internal import Linux
internal import NIOCore
internal import Signaling
internal import Wire

typealias XMPPConnection = MeetingConnection<XMPPStanza, XMPPIncoming>

extension XMPPConnection {
  convenience init(
    _ place: XMPPPlace, resource: String, program: MeetingProgram, eventLoop: any EventLoop,
    receive: @escaping (XMPPConnection.Event) -> Void
  ) {
    self.init(
      name: "xmpp", program: program, errand: .xmpp(place, resource: resource), eventLoop: eventLoop,
      receive: receive)
  }
}

/// Serves one connection to an XMPP server, in a process of its own (`MeetingService`).
struct XMPPService: Sendable {
  let place: XMPPPlace
  let resource: String
  let mailbox: XMPPConnection.Mailbox
  /// Hands events on; without any it is a sign of life.
  let announce: @Sendable () -> Void

  /// From connecting to being logged in.
  private static let limit: Duration = .seconds(12)
  /// For the end of the stream.
  private static let farewellLimit: Duration = .seconds(2)
  /// In bytes: one with our longest message, which has no characters to escape, and the TLS record that it ends in. The library
  /// takes a hundred bytes of memory for each that a server nests.
  private static let longestStanza: UInt64 = 112 * 1024
  /// The library has timers of its own.
  private static let rest: Duration = .seconds(5)

  static let silent = "it does not answer"
  private static let closed = "it has closed the connection"
  private static let noTLS = "TLS fails"
  private static let malformed = "what it sends is not XMPP"

  private func post(_ event: XMPPConnection.Event) {
    if mailbox.post(event) { announce() }
  }

  func run(within budget: ProcessorBudget) {
    let client = StropheClient.make(place, resource: resource)
    guard client.connect(place), client.record.descriptor >= 0 else {
      return post(.closed("no way to \(place.host ?? place.account.server)"))
    }
    post(serve(client, budget))
  }

  /// - Returns: the last event.
  private func serve(_ client: borrowing StropheClient, _ budget: ProcessorBudget) -> XMPPConnection.Event {
    var budget = budget
    var end: ContinuousClock.Instant? = .now + Self.limit
    var isOpen = false
    var isLeaving = false
    var flow = InflowLimit(most: Self.longestStanza)
    var refusals = TokenBucket(burst: 32, interval: .milliseconds(100))
    while true {
      announce()
      let (stanzas, ending) = mailbox.takeOrders()
      if isOpen { for stanza in stanzas { client.send(stanza) } }
      switch ending {
      case .none: break
      case .abandon: return .left
      case .leave(let farewell):
        if !isLeaving {
          isLeaving = true
          end = .now + Self.farewellLimit
          if isOpen, let farewell { client.send(farewell) }
          client.disconnect()
        }
      }
      let now = ContinuousClock.now
      if let end, now >= end { return isLeaving ? .left : .closed(Self.silent) }
      if let pause = [flow.pause(client.record.descriptor), budget.pause()].compactMap(\.self).max() {
        wait(client, isReading: false, until: min(pause, end ?? pause, now + Self.rest))
        continue
      }
      client.work()
      // Anybody may send what is not for us: it is of no length together.
      if client.record.takeStanzaIsComplete() { flow.restart(client.record.descriptor) }
      for entry in client.record.take() {
        switch entry {
        case .connected:
          isOpen = true
          if !isLeaving { end = nil }
          client.send(.available)
          post(.open)
        case .disconnected(let error, let words):
          return isLeaving
            ? .left : .closed(Self.reason(error, words, isOpen: isOpen, isPlain: place.mayBePlain, client))
        case .stanza(let incoming):
          switch incoming.kind {
          case .unknown:
            refuse(incoming, client, &refusals)
          // Of a parent that has gone.
          case .bounced where resource == XMPPPlace.resource: break
          case _ where resource == XMPPPlace.resource && !place.knows(incoming.from):
            // Strangers take no place of a parent's message, here or at the event loop.
            if case .question = incoming.kind { refuse(incoming, client, &refusals) }
          default:
            post(.received(incoming))
          }
        }
      }
      if client.record.isMalformed, !isLeaving {
        return .closed(client.record.tlsHasFailed ? Self.noTLS : Self.malformed)
      }
      if flow.isExceeded(client.record.descriptor) { return .closed(InflowLimit.words) }
      if client.hasTooMuchToSay { return .closed("it does not take what is sent to it") }
      wait(client, isReading: true, until: min(.now + Self.rest, end ?? .now + Self.rest))
    }
  }

  /// What is too much is not answered.
  private func refuse(_ incoming: XMPPIncoming, _ client: borrowing StropheClient, _ refusals: inout TokenBucket) {
    if case .admitted = refusals.admit(now: .ofEventLoop) { client.send(.refusal(of: incoming)) }
  }

  private func wait(_ client: borrowing StropheClient, isReading: Bool, until end: ContinuousClock.Instant) {
    let events = client.isConnecting ? Int16(POLLOUT) : Int16(POLLIN) | (client.wantsToWrite ? Int16(POLLOUT) : 0)
    _ = mailbox.wait(isReading ? client.record.descriptor : -1, for: events, until: end)
  }

  private static func reason(
    _ error: Int32, _ words: String?, isOpen: Bool, isPlain: Bool, _ client: borrowing StropheClient
  ) -> String {
    if let words { return words }
    if isOpen { return closed }
    if client.record.passwordIsRefused { return "it does not accept the account's password" }
    if !isPlain, let problem = client.record.certificateProblem {
      return "TLS fails: its certificate is not trusted (\(problem))"
    }
    if client.record.tlsHasFailed { return noTLS }
    if let problem = client.record.lastError { return problem }
    let error = client.record.connectError != 0 ? client.record.connectError : error
    return error > 0 && error != ECONNRESET ? String(cString: strerror(error)) : closed
  }
}
