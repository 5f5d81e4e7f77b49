internal import NIOCore
internal import NIOPosix
internal import Signaling

/// Tells a child that this parent ends the pairing.
public enum UnpairingCall {
  /// Waits until the child has been told; throws `ParentError` when it cannot be. The pair record here stays: see
  /// `PairedChild.forget`.
  public static func send(to child: PairedChild) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      try await loop.flatSubmit { tell(child, loop) }.get()
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try? await group.shutdownGracefully()
  }

  private static func tell(_ child: PairedChild, _ loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    let kept = Kept()
    let connection = RoomConnection(child, eventLoop: loop) { event in
      switch event {
      case .connected: kept.connection?.perform { $0.sayFarewell(.notPaired, now: $1) }
      case .unreachable(let reason): promise.fail(ParentError(reason))
      case .action(.ended), .action(.failed(.dismissed(.notPaired))): promise.succeed(())
      case .action(.failed(let error)): promise.fail(ParentError("\(error)"))
      case .action, .detached, .notMet: break
      }
    }
    kept.connection = connection
    connection.open()
    let bound = NIOLoopBound(kept, eventLoop: loop)
    return promise.futureResult.always { _ in
      bound.value.connection?.close()
      bound.value.connection = nil
    }
  }

  /// The connection's events need the connection, which is made after their handler.
  private final class Kept {
    var connection: RoomConnection?
  }
}
