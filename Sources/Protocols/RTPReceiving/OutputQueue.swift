/// What waits to be polled: both ends in constant time, amortised. Owners drain it after every call, so it stays short.
struct OutputQueue<Element: Sendable>: Sendable {
  private var storage: [Element?] = []
  private var head = 0

  mutating func append(_ element: Element) {
    storage.append(element)
  }

  mutating func popFirst() -> Element? {
    guard head < storage.count else { return nil }
    let element = storage[head].take()
    head += 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.count <= 64)
      head = 0
    }
    return element
  }
}
