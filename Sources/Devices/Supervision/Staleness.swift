public import Frames
internal import Synchronization

/// Tells what a device delivers from what it repeats: no sensor sees the same twice, noise sees to that. Black pictures are
/// the exception: they are taken for the dark.
public struct Staleness<Element: Sendable>: Sendable {
  /// What is wrong with an element, given the one before; nil when it is fresh.
  let fault: @Sendable (_ element: Element, _ previous: Element?) -> DeviceError.Reason?
  /// Stale elements are left out. Otherwise they are delivered, as sound has to go on.
  let isLeftOut: Bool
}

extension Staleness<VideoFrame> {
  public static let pictures = Staleness(
    fault: { frame, previous in
      guard let previous, frame.hasSamePicture(as: previous), !frame.isBlack else { return nil }
      return .frozen
    },
    isLeftOut: true)
}

extension Staleness<AudioBlock> {
  /// 20 ms of zeros may be a sound card that wakes up; `SupervisorTiming.stale` of them are not.
  public static let sounds = Staleness(
    fault: { block, previous in
      block.samples == previous?.samples || block.samples.allSatisfy { $0 == 0 } ? .digitalSilence : nil
    },
    isLeftOut: false)
}

/// Applies a `Staleness` to one device from `start` to `stop`, however often it is opened again. Called by its sources'
/// threads, one at a time, and by the supervisor's.
final class StaleJudge<Element: Sendable>: Sendable {
  private let rule: Staleness<Element>?
  private let previous = Mutex<Element?>(nil)

  init(_ rule: Staleness<Element>?) {
    self.rule = rule
  }

  var isLeftOut: Bool { rule?.isLeftOut ?? false }

  func fault(of element: Element) -> DeviceError.Reason? {
    guard let rule else { return nil }
    return previous.withLock { previous in
      defer { previous = element }
      return rule.fault(element, previous)
    }
  }

  /// Frees the last element.
  func forget() {
    previous.withLock { $0 = nil }
  }
}
