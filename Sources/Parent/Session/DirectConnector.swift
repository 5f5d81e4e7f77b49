internal import Frames
internal import NIOCore
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// Opens the WebSocket to a paired child's room, at whichever of its addresses answers first, and where that one is of no use, at
/// the next, as `HappyEyeballs` says. Confined to the event loop.
final class DirectConnector {
  enum Outcome {
    case connected(DirectLink)
    /// No address is left.
    case failed(LineRace.Failure)
  }

  /// Shorter than the protocol allows, because somebody waits for the command.
  private static let timeout: TimeAmount = .seconds(5)

  private let child: PairedChild
  private let loop: any EventLoop
  private let completion: (Outcome) -> Void
  private var race = HappyEyeballs()
  private var clients: [HappyEyeballs.Attempt: WebSocketClient] = [:]
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }
  private var reading: Task<Void, Never>?
  private var isDone = false

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
      if let first { bound.eventLoop.execute { bound.value.perform { $0.add(first, now: $1) } } }
      for await address in route() where !Task.isCancelled {
        bound.eventLoop.execute { bound.value.perform { $0.add(address, now: $1) } }
      }
      // Who gave up may have ended its loop.
      guard !Task.isCancelled else { return }
      bound.eventLoop.execute { bound.value.perform { $0.complete(now: $1) } }
    }
  }

  /// The connected address is of no use: tries the others. Its connection is the caller's.
  func goOn(because reason: String) {
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.perform { $0.goOn(because: reason, now: $1) } }
  }

  /// Gives up. `completion` is not called any more.
  func cancel() {
    isDone = true
    timer.cancel()
    reading?.cancel()
    for client in clients.values { client.cancel() }
    clients = [:]
  }

  /// - Parameter connection: what was opened; closed if it is not used.
  private func perform(
    _ connection: WebSocketConnection? = nil, _ change: (inout HappyEyeballs, Instant) -> [HappyEyeballs.Action]
  ) {
    var unused = connection
    for action in isDone ? [] : change(&race, MonotonicClock.now) {
      switch action {
      case .dial(let attempt): dial(attempt)
      case .cancel(let attempt): clients.removeValue(forKey: attempt)?.cancel()
      case .use(let attempt):
        guard let socket = unused else { continue }
        unused = nil
        completion(.connected(DirectLink(socket, to: attempt.address)))
      case .giveUp(let end):
        cancel()
        let text = Self.text(child.record.name, end)
        completion(.failed(end.hasLost ? .lost(text) : .useless(text)))
      }
    }
    unused?.close()
    if !isDone { timer.set(race.nextDeadline) }
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
        case .success(let connection): perform(connection) { race, _ in race.connected(attempt) }
        case .failure(.connection(.certificateNotTrusted)): perform { $0.failed(attempt, .otherKey, now: $1) }
        case .failure(let error):
          perform { $0.failed(attempt, error.isLoss ? .lost("\(error)") : .unreachable("\(error)"), now: $1) }
        }
      }
    } catch {
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.perform { $0.failed(attempt, .unreachable("\(error)"), now: $1) } }
    }
  }

  private static func text(_ name: String, _ end: HappyEyeballs.End) -> String {
    let reasons = end.reasons.joined(separator: "; ")
    if end.wasOpen { return "no session with “\(name)” (\(reasons))" }
    let advice = "is it switched on and in the same network? `cradle-parent discover` shows who is there"
    guard !reasons.isEmpty else { return "“\(name)” is not on this network, and was never reached before; \(advice)" }
    return "“\(name)” cannot be reached (\(reasons)); \(advice)"
  }
}
