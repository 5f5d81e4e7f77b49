public import Control

/// An alarm drill from here: has the child begin it, and waits for the result.
public enum DrillRun {
  /// - Parameters:
  ///   - stages: in any order; the child has its own.
  ///   - changed: how it stands, whenever that has changed.
  /// - Returns: the result. When the task is cancelled, the drill is ended before its time.
  /// - Throws: `ParentError`, `ControlFailure`, or what the system throws.
  public static func run(
    _ child: PairedChild, stages: [DrillDocument.Stage], changed: (DrillDocument) -> Void
  ) async throws -> DrillDocument {
    let session = try await ControlSession.open(child)
    do {
      let result = try await follow(session, stages, changed)
      await session.close()
      return result
    } catch {
      await session.close()
      throw error
    }
  }

  private static func follow(
    _ session: ControlSession, _ stages: [DrillDocument.Stage], _ changed: (DrillDocument) -> Void
  ) async throws -> DrillDocument {
    let begun = try await session.perform(DrillStart(stages))
    changed(begun)
    for await push in session.pushes {
      let drill: DrillDocument?
      switch push {
      case .hello(let hello): drill = hello.state.drill
      case .state(let state): drill = state.drill
      case .event, .heartbeat, .level, .goodbye: drill = nil
      }
      guard let drill, drill.number == begun.number else { continue }
      if drill.state != .running { return drill }
      if drill != begun { changed(drill) }
    }
    // Not the task's own, which is cancelled.
    guard Task.isCancelled else { throw ControlFailure.closed }
    _ = await Task { try? await session.perform(DrillStop()) }.value
    throw CancellationError()
  }
}
