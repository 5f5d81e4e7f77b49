public import NIOCore
internal import Server
public import Signaling
public import Wire

/// A parent's end of a meeting place, for one session with one child. Once it is open it behaves as the room at the child's
/// own address does.
///
/// `MeetingLinkMachine` decides, over the transport of the place's kind. Confined to one event loop.
public final class MeetingLink {
  /// Called on the event loop, never from within a call; not before `open` has completed.
  public var onReply: (RoomReply) -> Void = { _ in }
  /// The connection is lost, with words for a person. Called once, and not after `close`.
  public var onClose: (String) -> Void = { _ in }
  public let place: MeetingPlace

  private let transport: any MeetingLinkTransport
  private let loop: any EventLoop
  private var machine: MeetingLinkMachine
  private var completion: ((MeetingFailure?) -> Void)?
  private lazy var timer = DeadlineTimer(on: loop, now: { .ofEventLoop }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }

  init(
    _ transport: any MeetingLinkTransport, at place: MeetingPlace, _ machine: MeetingLinkMachine,
    eventLoop: any EventLoop
  ) {
    self.transport = transport
    self.place = place
    self.machine = machine
    loop = eventLoop
  }

  /// Connects, and looks whether the child is there: `completion` is called once, on the event loop and never from within
  /// this call, with nil or with why not.
  public func open(then completion: @escaping (MeetingFailure?) -> Void) {
    self.completion = completion
    later { $0.start(now: $1) }
  }

  /// Only once it is open; ignored when the connection is lost. `register` is answered by `registered` with the child's
  /// presence as `host`.
  public func send(_ request: RoomRequest) {
    if case .register = request { return later { machine, _ in machine.send(request) } }
    perform { machine, _ in machine.send(request) }
  }

  /// The network has changed, so the connection may be dead without a word: it is lost if nothing comes within `limit`.
  public func verify(within limit: TimeAmount) {
    if machine.isOpen { transport.verify(within: limit) }
  }

  /// Nothing is called any more.
  public func close() {
    completion = nil
    perform { machine, _ in machine.close() }
  }

  /// Our own address of the connection; nil where that is not known.
  public var localAddress: IPAddress? { machine.isOpen ? transport.localAddress : nil }

  /// Where the place was reached; nil where that is not known. Only places where it is known lend servers.
  public var remoteAddress: IPAddress? { machine.isOpen ? transport.remoteAddress : nil }

  /// A reply or the outcome follows from it.
  private func later(_ change: @escaping (inout MeetingLinkMachine, Instant) -> [MeetingLinkMachine.Action]) {
    let bound = NIOLoopBound((self, change), eventLoop: loop)
    loop.execute { bound.value.0.perform(bound.value.1) }
  }

  private func perform(_ change: (inout MeetingLinkMachine, Instant) -> [MeetingLinkMachine.Action]) {
    for action in change(&machine, .ofEventLoop) {
      switch action {
      case .connect:
        transport.connect { [weak self] input in self?.perform { $0.receive(input, now: $1) } }
      case .ask: transport.ask()
      case .send(let request): transport.send(request)
      case .drop: transport.drop()
      case .leave: transport.leave()
      case .opened: complete(nil)
      case .failed(let failure): complete(failure)
      case .reply(let reply): onReply(reply)
      case .lost(let reason): onClose(reason)
      }
    }
    timer.set(machine.nextDeadline)
  }

  private func complete(_ failure: MeetingFailure?) {
    let done = completion
    completion = nil
    done?(failure)
  }
}

/// How a parent speaks with one kind of server. One connection.
protocol MeetingLinkTransport: AnyObject {
  /// - Parameter report: what comes of the connection; not after `drop` or `leave`.
  func connect(report: @escaping (MeetingLinkMachine.Input) -> Void)
  /// Asks for the child's presence.
  func ask()
  func send(_ request: RoomRequest)
  func verify(within limit: TimeAmount)
  func drop()
  func leave()
  var localAddress: IPAddress? { get }
  var remoteAddress: IPAddress? { get }
}

/// Of a connection that a process of its own serves.
extension MeetingLinkTransport {
  /// The libraries send no sign of life when asked; theirs come by themselves.
  func verify(within limit: TimeAmount) {}
  var localAddress: IPAddress? { nil }
  var remoteAddress: IPAddress? { nil }
}
