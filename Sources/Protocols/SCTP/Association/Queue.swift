/// First in, first out, with constant-time access to every element.
struct Queue<Element: Sendable>: Sendable {
  private var storage: [Element?] = []
  private var head = 0

  var count: Int { storage.count - head }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : storage[head] }

  mutating func append(_ element: Element) {
    storage.append(element)
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = storage[head]
    storage[head] = nil
    head += 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.count <= 64)
      head = 0
    } else if head >= 64, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func removeAll() {
    storage = []
    head = 0
  }

  /// `index` counts from the front.
  subscript(index: Int) -> Element {
    get {
      guard let element = storage[head + index] else { preconditionFailure("an index lies behind the head") }
      return element
    }
    set { storage[head + index] = newValue }
  }
}
