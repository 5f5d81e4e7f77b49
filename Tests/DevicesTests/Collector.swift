import Frames
import Wire

@testable import Devices

/// Takes what a source delivers and hands it to a test in its order.
final class Collector<Element: Sendable>: Sendable {
  private let mailbox = Mailbox<Element>(capacity: 1000)

  func put(_ element: Element) { mailbox.put(element) }

  /// The next one; nil after a minute without.
  func next() -> Element? { mailbox.take(until: MonotonicClock.now + .seconds(60)) }

  /// What is there already.
  func nextNow() -> Element? { mailbox.take(until: MonotonicClock.now) }
}
