public import NIOCore
public import Signaling

/// Looks at a meeting place as a parent that comes to meet the child.
public enum MeetingProbe {
  /// What came of a message to the child.
  public enum Answer: Hashable, Sendable {
    case answered
    /// The child is shown there, and does not get the message, or its answer does not come.
    case unanswered
    case failed(MeetingFailure)
  }

  /// From connecting to knowing whether the child is there.
  public static let limit: TimeAmount = .seconds(12)
  private static let answering: TimeAmount = .seconds(5)

  /// Whether a child is there; nil: it is. Takes `limit` at most.
  public static func run(
    _ place: MeetingPlace, child: String, within limit: TimeAmount = limit, on loop: any EventLoop
  ) async -> MeetingFailure? {
    switch await visit(place, child, isTalking: false, limit, .own, loop) {
    case .answered, .unanswered: nil
    case .failed(let failure): failure
    }
  }

  /// Sends the child a message that it answers. Takes some seconds at most.
  public static func call(
    _ child: String, at place: MeetingPlace, program: MeetingProgram = .own, on loop: any EventLoop
  ) async -> Answer {
    await visit(place, child, isTalking: true, limit, program, loop)
  }

  private static func visit(
    _ place: MeetingPlace, _ child: String, isTalking: Bool, _ limit: TimeAmount, _ program: MeetingProgram,
    _ loop: any EventLoop
  ) async -> Answer {
    let promise = loop.makePromise(of: Answer.self)
    let kept = NIOLoopBoundBox<MeetingLink?>.makeBoxSendingValue(nil, eventLoop: loop)
    loop.execute {
      var random = SystemRandomNumberGenerator()
      let link = place.link(child: child, client: RandomName.make(from: &random), program: program, eventLoop: loop)
      kept.value = link
      let timer = loop.assumeIsolated().scheduleTask(in: limit) {
        promise.succeed(.failed(.unreachable("no answer in \(limit.nanoseconds / 1_000_000_000) s")))
      }
      link.open { failure in
        timer.cancel()
        if let failure { return promise.succeed(.failed(failure)) }
        guard isTalking else { return promise.succeed(.answered) }
        loop.assumeIsolated().scheduleTask(in: answering) { promise.succeed(.unanswered) }
        link.onReply = { reply in
          if let answer = outcome(of: reply) { promise.succeed(answer) }
        }
        link.onClose = { reason in promise.succeed(.failed(.unreachable(reason))) }
        link.send(.send(to: child, message: MeetingCheck.message))
      }
    }
    let answer = try? await promise.futureResult.get()
    loop.execute {
      kept.value?.close()
      kept.value = nil
    }
    return answer ?? .unanswered
  }

  /// Nil for what says nothing of our message.
  private static func outcome(of reply: RoomReply) -> Answer? {
    switch reply {
    case .message: .answered
    case .error(let error) where error.code == .refused: .answered
    case .error(let error) where error.code == .undelivered: .unanswered
    case .error(let error): .failed(.unreachable("it refuses, in its own words: “\(error)”"))
    case .registered, .proved, .presence, .vouched: nil
    }
  }
}
