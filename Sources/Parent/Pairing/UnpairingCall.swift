internal import NIOCore
internal import NIOPosix

/// Notifies a child that this parent ends the pairing.
public enum UnpairingCall {
  /// Waits until the child has been notified; throws `ParentError` when it cannot be. The pair record here stays: see
  /// `PairedChild.forget`.
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
