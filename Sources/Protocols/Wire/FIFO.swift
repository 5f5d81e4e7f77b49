/// A first-in, first-out queue: amortised constant time at both ends, and in-place access to elements by index.
public struct FIFO<Element: Sendable>: Sendable {
  private var storage: [Element?] = []
  private var head = 0

  /// An emptied queue keeps storage for up to this many elements, about the packets of a key frame.
  private static var keptCapacity: Int { 128 }

  public init() {}

  public var isEmpty: Bool { head == storage.count }
  public var count: Int { storage.count - head }
  public var first: Element? { isEmpty ? nil : storage[head] }

  public mutating func append(_ element: Element) {
    storage.append(element)
  }

  public mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = storage[head].take()
    head += 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.count <= Self.keptCapacity)
      head = 0
    } else if head >= 64, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return element
  }

  /// `index` counts from the front and is less than `count`.
  public subscript(index: Int) -> Element {
    get {
      guard let element = storage[head + index] else { preconditionFailure("an index lies behind the head") }
      return element
    }
    set { storage[head + index] = newValue }
  }

  /// All elements, first to last. O(n).
  public var elements: [Element] { storage[head...].compactMap { $0 } }

  /// O(n).
  public mutating func removeAll(where shouldRemove: (Element) -> Bool) {
    storage = elements.filter { !shouldRemove($0) }
    head = 0
  }

  /// Also frees the storage.
  public mutating func removeAll() {
    storage = []
    head = 0
  }
}
