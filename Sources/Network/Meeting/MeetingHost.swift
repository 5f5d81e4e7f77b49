internal import NIOCore
internal import Server
public import Signaling
public import Wire

/// The child's end of a meeting place: a server on the Internet where parents find the child and leave signed messages for
/// it. The place sees who meets whom and when; it cannot read pictures or sound, and a message that it forges is refused.
///
/// `MeetingHostMachine` decides, over the transport of the place's kind. Confined to one event loop.
public final class MeetingHost {
  /// Called on the event loop, never from within a call.
  public var onEvent: (MeetingHostEvent) -> Void = { _ in }

  private let transport: any MeetingHostTransport
  private let loop: any EventLoop
  private var machine: MeetingHostMachine
  private var presence = ""
  /// The addresses that this machine had last.
  private var addresses = Set(LocalAddresses.current(includingLoopback: true))
  private lazy var timer = DeadlineTimer(on: loop, now: { .ofEventLoop }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }

  init(_ transport: any MeetingHostTransport, _ timing: MeetingHostMachine.Timing, eventLoop: any EventLoop) {
    self.transport = transport
    loop = eventLoop
    machine = MeetingHostMachine(timing, random: SystemRandomNumberGenerator())
  }

  /// Connects, and stays connected: what is lost is made again.
  ///
  /// - Parameter presence: signed; shown to every parent that comes (`Presence`).
  public func open(presence: String) {
    self.presence = presence
    later { $0.start(now: $1) }
  }

  /// Shows a newer presence.
  public func announce(presence: String) {
    self.presence = presence
    perform { machine, _ in machine.announce() }
  }

  /// To a client that has sent a message; lost if the client is gone.
  public func send(to client: String, message: String) {
    command(.send(to: client, message: message))
  }

  /// This client is a paired parent. What the place lends it lasts for `lifetime` at most; nil: as long as the place likes.
  public func vouch(for client: String, lifetime: Duration?) {
    command(.vouch(client: client, lifetime: lifetime))
  }

  /// This client is none. `reason` is for a person.
  public func dismiss(_ client: String, reason: String) {
    command(.dismiss(client: client, reason: reason))
  }

  private func command(_ request: RoomRequest) {
    if machine.isPresent { transport.send(request) }
  }

  /// Addresses of this machine have come or gone, so the connection may be dead without a word: from an address that is
  /// gone another one is made at once, any other has to show that it lives.
  ///
  /// - Parameter own: the addresses that this machine has now.
  public func addressesChanged(_ own: Set<IPAddress>) {
    let isGone = transport.isGone(own) ?? !addresses.isSubset(of: own)
    addresses = own
    later { $0.addressesChanged(isGone: isGone, isOffline: own.isEmpty, now: $1) }
  }

  /// The network seems to have changed beyond this machine: the connection has to show that it lives.
  public func verify() {
    perform { $0.verify(now: $1) }
  }

  /// Leaves the place, so that parents know at once. `done` is called on the event loop when the place has been notified, or
  /// cannot be. No event follows.
  public func close(then done: @escaping () -> Void) {
    timer.cancel()
    if machine.close() { return transport.leave(then: done) }
    let bound = NIOLoopBound(done, eventLoop: loop)
    loop.execute { bound.value() }
  }

  /// Events may follow from it.
  private func later(_ change: @escaping (inout MeetingHostMachine, Instant) -> [MeetingHostMachine.Action]) {
    let bound = NIOLoopBound((self, change), eventLoop: loop)
    loop.execute { bound.value.0.perform(bound.value.1) }
  }

  private func perform(_ change: (inout MeetingHostMachine, Instant) -> [MeetingHostMachine.Action]) {
    for action in change(&machine, .ofEventLoop) {
      switch action {
      case .connect:
        transport.connect { [weak self] input in self?.perform { $0.receive(input, now: $1) } }
      case .announce: transport.send(.announce(presence: presence))
      case .verify(let limit):
        if !transport.verify(within: .nanoseconds(limit.nanoseconds)) { transport.send(.announce(presence: presence)) }
      case .drop: transport.drop()
      case .event(let event): onEvent(event)
      }
    }
    timer.set(machine.nextDeadline)
  }
}

/// How a child speaks with one kind of server. One connection at a time.
protocol MeetingHostTransport: AnyObject {
  /// - Parameter report: what comes of this connection; not after `drop` or `leave`.
  func connect(report: @escaping (MeetingHostMachine.Input) -> Void)
  /// `announce` once it is connected, and again for each newer presence. The rest once it is present; what the server has no use
  /// for is left out.
  func send(_ request: RoomRequest)
  /// Ends the connection unless something comes within `limit`. False: that cannot be asked for. The presence is sent again then:
  /// what is sent over a connection that is dead ends it soon.
  func verify(within limit: TimeAmount) -> Bool
  /// Whether the connection is from an address that this machine has no more; nil where its own is not known.
  func isGone(_ own: Set<IPAddress>) -> Bool?
  func drop()
  /// Says goodbye. `done` is called on the event loop, never from within this call.
  func leave(then done: @escaping () -> Void)
}

/// Of a connection that a process of its own serves.
extension MeetingHostTransport {
  func verify(within limit: TimeAmount) -> Bool { false }
  func isGone(_ own: Set<IPAddress>) -> Bool? { nil }
}

extension Instant {
  /// The clock of the event loops.
  static var ofEventLoop: Instant {
    Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
  }
}

extension TokenBucket {
  /// For what comes over one connection: nobody else says who has sent it, so all senders share it.
  static var ofOneConnection: TokenBucket { TokenBucket(burst: 256, interval: .milliseconds(20)) }
}
