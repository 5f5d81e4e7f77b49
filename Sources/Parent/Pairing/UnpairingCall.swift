internal import NIOCore
internal import NIOPosix
internal import Signaling

/// Notifies a child that this parent ends the pairing.
public enum UnpairingCall {
  /// The child has removed this parent, and says that a restart may bring it back.
  public struct NotStored: Error, CustomStringConvertible {
    public var description: String { "\(PairedSessionError.dismissed(.notStored))" }
  }

  /// Waits until the child has stored it; throws `ParentError` when it cannot be notified, and `NotStored`. The pair record
  /// here stays: see `PairedChild.forget`.
  public static func send(to child: PairedChild) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      try await loop.flatSubmit {
        let promise = loop.makePromise(of: Void.self)
        let signaling = RoomSignaling(child, eventLoop: loop)
        signaling.unpair { failure in if let failure { promise.fail(failure) } else { promise.succeed() } }
        let bound = NIOLoopBound(signaling, eventLoop: loop)
        return promise.futureResult.always { _ in bound.value.close() }
      }.get()
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try? await group.shutdownGracefully()
  }
}
