/// A first-in first-out queue: both ends in constant time, amortised.
struct FIFO<Element: Sendable>: Sendable {
  private var storage: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == storage.count }
  var count: Int { storage.count - head }
  var first: Element? { isEmpty ? nil : storage[head] }

  mutating func append(_ element: Element) {
    storage.append(element)
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = storage[head].take()
    head += 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.count <= 256)
      head = 0
    } else if head >= 64, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return element
  }

  /// All elements, first to last. Costs time in proportion to their number.
  var elements: [Element] { storage[head...].compactMap { $0 } }

  /// Costs time in proportion to the number of elements.
  mutating func removeAll(where shouldRemove: (Element) -> Bool) {
    storage = elements.filter { !shouldRemove($0) }
    head = 0
  }

  mutating func removeAll() {
    storage = []
    head = 0
  }
}
