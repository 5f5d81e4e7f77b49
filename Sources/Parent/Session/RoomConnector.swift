internal import NIOCore
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// Opens the WebSocket to a paired child's room, at whichever of its addresses answers first, and where that one is of no use, at
/// the next. Confined to the event loop.
final class RoomConnector {
  enum Outcome {
    case connected(WebSocketConnection, ChildAddress)
    /// No address is left; for a person.
    case unreachable(String)
    /// The same, and something was lost at one of them: another connector may have more luck.
    case lost(String)
  }

  /// Shorter than the protocol allows, because somebody waits for the command.
  private static let timeout: TimeAmount = .seconds(5)

  private let child: PairedChild
  private let loop: any EventLoop
  private let completion: (Outcome) -> Void
  private var race = HappyEyeballs()
  private var clients: [HappyEyeballs.Attempt: WebSocketClient] = [:]
  private var timer: Scheduled<Void>?
  private var reading: Task<Void, Never>?
  private var isDone = false
  /// What is connected, and waits for `goOn`.
  private var open: HappyEyeballs.Attempt?
  private var wasOpen = false

  /// Starts at once, with the address `first` if there is one. `completion` is called never from within this call, and after
  /// `connected` once more for each `goOn`.
  init(
    _ child: PairedChild, first: ChildAddress? = nil, eventLoop: any EventLoop,
    then completion: @escaping (Outcome) -> Void
  ) {
    self.child = child
    loop = eventLoop
    self.completion = completion
    let route = child.route
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    reading = Task {
      if let first { bound.eventLoop.execute { bound.value.perform { $0.add(first) } } }
      for await address in route() where !Task.isCancelled {
        bound.eventLoop.execute { bound.value.perform { $0.add(address) } }
      }
      // Who gave up may have ended its loop.
      guard !Task.isCancelled else { return }
      bound.eventLoop.execute { bound.value.perform { $0.complete() } }
    }
  }

  /// The connected address is of no use: tries the others. Its connection is the caller's.
  func goOn(because reason: String) {
    guard let attempt = open else { return }
    open = nil
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.perform { $0.goOn(attempt, because: reason) } }
  }

  /// Gives up. `completion` is not called any more.
  func cancel() {
    isDone = true
    timer?.cancel()
    reading?.cancel()
    for client in clients.values { client.cancel() }
    clients = [:]
  }

  private func perform(_ change: (inout HappyEyeballs) -> [HappyEyeballs.Action]) {
    guard !isDone else { return }
    for action in change(&race) {
      switch action {
      case .dial(let attempt): dial(attempt)
      case .wait:
        timer?.cancel()
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = loop.scheduleTask(in: .nanoseconds(HappyEyeballs.spacing.nanoseconds)) {
          bound.value.perform { $0.spacingOver() }
        }
      case .giveUp(let reasons):
        cancel()
        let text = wasOpen ? Self.used(child.record.name, reasons) : Self.text(child.record.name, reasons)
        completion(race.hasLost ? .lost(text) : .unreachable(text))
      }
    }
  }

  private func dial(_ attempt: HappyEyeballs.Attempt) {
    do {
      // Another certificate may be accepted, because the messages themselves are signed: see `SignedMessage`.
      let trust: HTTPTrust = attempt.isPinned ? child.pin : .firstUse { _ in true }
      let client = try WebSocketClient(
        url: HTTPURL("\(attempt.address.origin)/signal"), trust: trust, timeout: Self.timeout, eventLoop: loop)
      clients[attempt] = client
      client.connect { [self] result in
        clients[attempt] = nil
        switch result {
        case .success(let connection): connected(connection, attempt)
        case .failure(.connection(.certificateNotTrusted)): perform { $0.failed(attempt, .otherKey) }
        case .failure(let error):
          perform { $0.failed(attempt, error.isLoss ? .lost("\(error)") : .unreachable("\(error)")) }
        }
      }
    } catch {
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.perform { $0.failed(attempt, .unreachable("\(error)")) } }
    }
  }

  private func connected(_ connection: WebSocketConnection, _ attempt: HappyEyeballs.Attempt) {
    guard !isDone, open == nil else { return connection.close() }
    timer?.cancel()
    for other in race.connected(attempt) { clients.removeValue(forKey: other)?.cancel() }
    open = attempt
    wasOpen = true
    completion(.connected(connection, attempt.address))
  }

  private static func used(_ name: String, _ reasons: [String]) -> String {
    "no session with “\(name)” (\(reasons.joined(separator: "; ")))"
  }

  private static func text(_ name: String, _ reasons: [String]) -> String {
    let advice = "is it switched on and in the same network? `cradle-parent discover` shows who is there"
    guard !reasons.isEmpty else { return "“\(name)” is not on this network, and was never reached before; \(advice)" }
    return "“\(name)” cannot be reached (\(reasons.joined(separator: "; "))); \(advice)"
  }
}
