public import Control
internal import Frames

/// A proof of hearing from here: listens to the child, has it begin the test, and waits for the result.
public enum HearingCheck {
  private enum Event: Sendable {
    case connected
    case hearing(HearingDocument)
    case ended(ParentError)
  }

  /// For sound to begin, and for the test.
  private static let patience: Duration = .seconds(40)
  /// From the connection on: the first packets, and the receiver's stock.
  private static let settling: Duration = .seconds(1)

  /// The result.
  ///
  /// - Throws: `ParentError`, `ControlFailure`, or what the system throws.
  public static func run(_ child: PairedChild) async throws -> HearingDocument {
    var options = WatchOptions(.child(child))
    options.wantsVideo = false
    options.wantsAudio = true
    let (events, said) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
    let watcher = try await Watcher.start(
      options, notice: { _ in },
      event: { event in
        switch event {
        case .push(.hello): said.yield(.connected)
        case .push(.state(let state)):
          if let hearing = state.hearing { said.yield(.hearing(hearing)) }
        default: break
        }
      }, ended: { error in said.yield(.ended(error)) })
    let limit = Task {
      try? await Task.sleep(for: patience)
      said.yield(.ended(ParentError("the test did not end in time", isFinal: false)))
    }
    defer { limit.cancel() }
    do {
      let result = try await follow(events, watcher)
      _ = await watcher.stop()
      return result
    } catch {
      _ = await watcher.stop()
      throw error
    }
  }

  private static func follow(_ events: AsyncStream<Event>, _ watcher: Watcher) async throws -> HearingDocument {
    var number: Int?
    for await event in events {
      switch event {
      case .connected:
        guard number == nil else { continue }
        try await Task.sleep(for: settling)
        number = try await watcher.perform(HearingTestStart()).number
      case .hearing(let hearing):
        guard let number else { continue }
        if hearing.number > number {
          throw ParentError("another device began a sound check, and this one ended without a result", isFinal: true)
        }
        if hearing.state != .running { return hearing }
      case .ended(let error): throw error
      }
    }
    throw CancellationError()
  }
}
