internal import Control
internal import Pairing

/// Asks a child how it is reached from elsewhere, and keeps that: its meeting places, and servers that help to find a path.
///
/// A child sends it to everybody who is paired, first of all in every session (interfaces/wire.md, "Data channel": `hello`). A
/// parent that has just been paired has had no session yet, and could not get in from elsewhere.
public enum AwayCall {
  /// Opens a session without picture and sound, and ends it when the child has sent it.
  ///
  /// - Parameter limit: how long the child may take for its first words once the session is open.
  /// - Throws: `ParentError`, or what the system throws. The pair record stays.
  public static func ask(_ child: PairedChild, within limit: Duration = .seconds(5)) async throws {
    let session = try await ControlSession.open(child)
    let hasTold = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await push in session.pushes {
          if case .hello = push { return true }
        }
        return false
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    // Waits for what is written, too.
    await session.close()
    guard hasTold else { throw ParentError("“\(child.record.name)” has not told it in time", isFinal: false) }
  }
}
