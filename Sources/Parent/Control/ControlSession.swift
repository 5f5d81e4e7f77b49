public import Control
internal import Frames
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import SDP
internal import Server

/// A session with a paired child for commands and talk-back. It receives no picture and no sound.
///
/// `@unchecked Sendable`: what changes is confined to the event loop.
public final class ControlSession: @unchecked Sendable {
  public let child: PairedChild
  /// What the child sends unasked, `hello` first. Ends with the session.
  public let pushes: AsyncStream<ControlPush>

  private let endpoint: PeerEndpoint
  private let session: ChildSession
  private let said: AsyncStream<ControlPush>.Continuation
  private var opening: EventLoopPromise<Void>?

  /// For connecting as a whole. Each step has its own limit, whose error says more.
  private static let openTimeout: TimeAmount = .seconds(40)
  /// When they are not read, the oldest are dropped.
  private static let maximumPushes = 256

  /// Connects to the child.
  ///
  /// - Throws: `ParentError`, or what the system throws.
  public static func open(_ child: PairedChild) async throws -> ControlSession {
    try await open(child, speaks: false, marking: .none)
  }

  /// - Parameter speaks: what `say` is given goes to the child.
  static func open(_ child: PairedChild, speaks: Bool, marking: MediaMarking) async throws -> ControlSession {
    let endpoint = try await PeerEndpoint.open(identity: child.identity, marking: marking)
    let session = ControlSession(child, endpoint, speaks)
    do {
      try await session.begin().get()
      return session
    } catch {
      await session.close()
      throw error
    }
  }

  private init(_ child: PairedChild, _ endpoint: PeerEndpoint, _ speaks: Bool) {
    self.child = child
    self.endpoint = endpoint
    (pushes, said) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.maximumPushes))
    let relay = Relay()
    session = ChildSession(
      configuration: speaks ? MediaPlan.talking : PeerConnectionConfiguration(media: []), hub: endpoint.hub,
      signaling: RoomSignaling(child, eventLoop: endpoint.loop)
    ) { event in relay.owner?.handle(event) }
    relay.owner = self
  }

  /// From the session to its owner, which needs the session first.
  private final class Relay {
    weak var owner: ControlSession?
  }

  private func begin() -> EventLoopFuture<Void> {
    endpoint.loop.flatSubmit { [self] in
      let promise = endpoint.loop.makePromise(of: Void.self)
      opening = promise
      let limit = endpoint.loop.scheduleTask(in: Self.openTimeout) { [self] in
        opened(.failure(ParentError("“\(child.record.name)” does not answer in time", isFinal: false)))
      }
      promise.futureResult.whenComplete { _ in limit.cancel() }
      endpoint.hub.onEvent = { [weak self] peer, event in
        if let self, peer == session.peer { session.handle(event) }
      }
      session.start()
      return promise.futureResult
    }
  }

  private func handle(_ event: ChildSession.Event) {
    switch event {
    case .connected: opened(.success(()))
    case .weak, .waiting, .searching: break
    case .push(let push): said.yield(push)
    case .over(let end):
      if end == .unpaired { _ = try? child.forget() }
      opened(.failure(ParentError(end)))
      said.finish()
    }
  }

  private func opened(_ result: Result<Void, any Error>) {
    opening?.completeWith(result)
    opening = nil
  }

  /// Has the child carry out a command. Throws `ControlFailure`.
  public func perform<Command: ControlCommand>(_ command: Command) async throws -> Command.Reply {
    try await endpoint.loop.flatSubmit { [self] in
      let promise = endpoint.loop.makePromise(of: Command.Reply.self)
      session.control.perform(command) { promise.completeWith($0.mapError { $0 }) }
      return promise.futureResult
    }.get()
  }

  /// The same for a command that is answered with bytes: a photo, a piece of a recording. Throws `ControlFailure`.
  public func fetch<Command: ControlCommand>(
    _ command: Command
  ) async throws -> TransferReceiver.Received where Command.Reply == TransferDocument {
    try await endpoint.loop.flatSubmit { [self] in
      let promise = endpoint.loop.makePromise(of: TransferReceiver.Received.self)
      session.control.fetch(command) { promise.completeWith($0.mapError { $0 }) }
      return promise.futureResult
    }.get()
  }

  /// Sends sound. From any thread.
  @Sendable func say(_ packet: EncodedAudioPacket) {
    endpoint.loop.execute { [endpoint] in
      endpoint.hub.send(
        [packet.data], kind: .audio, mediaTime: UInt32(truncatingIfNeeded: packet.samplePosition),
        captureTime: packet.captureTime)
    }
  }

  /// Says goodbye. Call once, at the end.
  public func close() async {
    try? await endpoint.loop.submit { [self] in
      opened(.failure(ParentError("closed")))
      session.leave {}
      said.finish()
    }.get()
    await endpoint.shutDown(sayingGoodbye: true)
    await endpoint.stopLoop()
    await child.away.writes.finish()
  }
}
