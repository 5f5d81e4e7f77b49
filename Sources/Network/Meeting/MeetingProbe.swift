public import NIOCore
internal import Signaling

/// Looks whether a child is at a meeting place, as a parent that comes to meet it.
public enum MeetingProbe {
  /// Nil: the child is there. Takes some seconds at most.
  public static func run(_ place: MeetingPlace, child: String, on loop: any EventLoop) async -> MeetingFailure? {
    let promise = loop.makePromise(of: MeetingFailure?.self)
    let kept = NIOLoopBoundBox<(any MeetingLink)?>.makeBoxSendingValue(nil, eventLoop: loop)
    loop.execute {
      var random = SystemRandomNumberGenerator()
      let link = place.link(child: child, client: RandomName.make(from: &random), eventLoop: loop)
      kept.value = link
      loop.assumeIsolated().scheduleTask(in: .seconds(12)) { promise.succeed(.unreachable("no answer in 12 s")) }
      link.open { failure in promise.succeed(failure) }
    }
    let failure = try? await promise.futureResult.get()
    loop.execute {
      kept.value?.close()
      kept.value = nil
    }
    return failure ?? nil
  }
}
