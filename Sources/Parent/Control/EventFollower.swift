public import Control
internal import Frames

/// Follows a child's events, reconnecting when the link is lost.
public struct EventFollower: Sendable {
  private let child: PairedChild

  public init(_ child: PairedChild) {
    self.child = child
  }

  /// Reports the last `limit` events and then every further one, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - level: less grave events are left out.
  ///   - handle: what it throws ends this.
  ///   - trouble: called when the link is lost and will be retried.
  /// - Throws: `ParentError` or `ControlFailure` when the first attempt fails, or when retrying would not help.
  public func follow(
    limit: Int, level: EventLevel? = nil, handle: (EventDocument) throws -> Void, trouble: (String) -> Void
  ) async throws {
    var last: UInt64?
    var hasConnected = false
    var retry = RetryDelay()
    // Once for each reason, not for each attempt.
    var said: String?
    func explain(_ reason: String) {
      if reason != said, !Task.isCancelled { trouble(reason) }
      said = reason
    }
    while !Task.isCancelled {
      do {
        let session = try await ControlSession.open(child)
        hasConnected = true
        said = nil
        do {
          try await follow(
            session, since: &last, limit: last == nil ? limit : ControlLimits.eventLimit.upperBound,
            level: level, handle)
        } catch {
          await session.close()
          throw error
        }
        await session.close()
        explain("the link is lost")
      } catch let error as ParentError where hasConnected && !error.isFinal {
        explain(error.description)
      } catch ControlFailure.closed {
        explain("the link is lost")
      }
      try? await Task.sleep(for: retry.next(now: MonotonicClock.now, jitter: .random(in: 0...1)))
    }
  }

  private func follow(
    _ session: ControlSession, since last: inout UInt64?, limit: Int, level: EventLevel?,
    _ handle: (EventDocument) throws -> Void
  ) async throws {
    let missed = try await session.perform(EventsGet(since: last, limit: limit, level: level))
    for event in missed { try handle(event) }
    // Events pushed before the reply are part of it. A child that lost its log counts from the start again.
    let newest = missed.last?.sequence
    last = newest ?? last
    for await push in session.pushes {
      guard case .event(let event) = push, newest.map({ event.sequence > $0 }) ?? true else { continue }
      last = event.sequence
      if level.map(event.isAtLeast) ?? true { try handle(event) }
    }
  }
}
