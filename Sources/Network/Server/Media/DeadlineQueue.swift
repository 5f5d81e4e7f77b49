internal import Wire

/// The deadlines of many: which is the first costs nothing to know, and changing one takes steps in the order of the
/// logarithm of their number. A binary heap whose places are known.
struct DeadlineQueue<Key: Hashable> {
  private var heap: [(deadline: Instant, key: Key)] = []
  private var places: [Key: Int] = [:]

  var count: Int { heap.count }

  /// The earliest; nil without any.
  var first: Instant? { heap.first?.deadline }

  /// Everybody whose deadline has come, unordered. They stay until their deadlines are set again.
  func due(at now: Instant) -> [Key] {
    var found: [Key] = []
    var open = [0]
    while let place = open.popLast() {
      // Below one that is not due nothing is.
      guard place < heap.count, heap[place].deadline <= now else { continue }
      found.append(heap[place].key)
      open.append(2 * place + 1)
      open.append(2 * place + 2)
    }
    return found
  }

  /// Nil: none any more.
  mutating func set(_ deadline: Instant?, for key: Key) {
    guard let deadline else { return remove(key) }
    if let place = places[key] {
      guard heap[place].deadline != deadline else { return }
      heap[place].deadline = deadline
      settle(place)
    } else {
      heap.append((deadline, key))
      places[key] = heap.count - 1
      settle(heap.count - 1)
    }
  }

  private mutating func remove(_ key: Key) {
    guard let place = places.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard place < heap.count else { return }
    heap[place] = last
    places[last.key] = place
    settle(place)
  }

  private mutating func settle(_ start: Int) {
    var place = start
    while place > 0, heap[place].deadline < heap[(place - 1) / 2].deadline {
      exchange(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
    while true {
      var least = place
      for child in 2 * place + 1...2 * place + 2 where child < heap.count {
        if heap[child].deadline < heap[least].deadline { least = child }
      }
      guard least != place else { return }
      exchange(place, least)
      place = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    places[heap[one].key] = one
    places[heap[other].key] = other
  }
}
