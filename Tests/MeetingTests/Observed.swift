import NIOCore
import Synchronization

/// What has been called back with, for a test to wait for.
final class Observed<Item: Sendable>: Sendable {
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  private let items = Mutex<[Item]>([])

  func add(_ item: Item) {
    items.withLock { $0.append(item) }
  }

  var all: [Item] { items.withLock(\.self) }

  /// Waits until `pick` finds something, and forgets what came up to it.
  @discardableResult
  func next<Found>(_ what: String, _ pick: (Item) -> Found?) async throws -> Found {
    let end = ContinuousClock.now + .seconds(40)
    while ContinuousClock.now < end {
      let found = items.withLock { items -> Found? in
        for (index, item) in items.enumerated() {
          guard let found = pick(item) else { continue }
          items.removeFirst(index + 1)
          return found
        }
        return nil
      }
      if let found { return found }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Missing(description: "\(what) did not come, but \(all)")
  }
}

/// An object that is confined to an event loop.
struct Confined<Object>: @unchecked Sendable {
  let loop: any EventLoop
  private let object: Object

  init(_ loop: any EventLoop, _ make: @escaping @Sendable () -> Object) async throws {
    self.loop = loop
    object = try await loop.submit { Unchecked(value: make()) }.get().value
  }

  func run(_ body: @escaping @Sendable (Object) -> Void) async throws {
    try await loop.submit { body(self.object) }.get()
  }

  private struct Unchecked: @unchecked Sendable {
    let value: Object
  }
}
