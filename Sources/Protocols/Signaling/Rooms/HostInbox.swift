internal import Wire

/// What clients that nobody has vouched for have sent to a host elsewhere, until the host's connection takes it. One message is
/// under way at a time, and no more than a rate that a slow line carries, so that strangers neither fill that connection nor
/// make the host answer faster than it may. Addresses take turns (self-clocked fair queueing, Golestani 1994): whoever sends
/// much waits for itself, and gives way first when the inbox is full.
struct HostInbox: Sendable {
  private struct Entry: Sendable {
    var delivery: RoomDelivery
    var cost: Duration
    /// When its turn ends, in virtual time: grows with what its address has had.
    var finish: Duration
  }

  private struct Sender: Sendable {
    var address: IPAddress?
    var entries: FIFO<Entry> = FIFO()
    var bytes = 0
  }

  private var senders: [RoomConnectionID: Sender] = [:]
  /// Of each address, the end of its last turn; those before `virtualTime` are forgotten.
  private var finishes: [IPAddress?: Duration] = [:]
  private var virtualTime: Duration = .zero
  private var bytes = 0
  private var isUnderWay = false
  /// What has been delivered is paid for until then.
  private var paidUntil: Instant = .zero

  /// When `next` is due; nil: nothing waits, or one is under way.
  func deadline(_ limits: RoomLimits) -> Instant? {
    isUnderWay || senders.isEmpty ? nil : paidUntil - limits.strangersBurst
  }

  /// - Returns: whether it is taken; connections whose messages were dropped for it.
  mutating func add(
    _ delivery: RoomDelivery, from id: RoomConnectionID, at address: IPAddress?, limits: RoomLimits
  ) -> (isTaken: Bool, displaced: [RoomConnectionID]) {
    let size = delivery.message.utf8.count
    var sender = senders[id] ?? Sender(address: address)
    guard sender.entries.count < limits.maximumStrangersMessages, sender.bytes + size <= limits.maximumStrangersBytes
    else { return (false, []) }
    var displaced: [RoomConnectionID] = []
    while bytes + size > limits.maximumInboxBytes {
      var held: [IPAddress?: Int] = [:]
      for sender in senders.values { held[sender.address, default: 0] += sender.bytes }
      // Numbers decide between equals, as hash order must not.
      let greediest = senders.max { one, other in
        let (left, right) = (held[one.value.address, default: 0], held[other.value.address, default: 0])
        return (left, one.value.bytes, other.key.number) < (right, other.value.bytes, one.key.number)
      }
      guard let greediest, greediest.key != id,
        held[greediest.value.address, default: 0] > held[address, default: 0] + size
      else { return (false, displaced) }
      _ = remove(greediest.key)
      displaced.append(greediest.key)
    }
    let cost = max(limits.strangersInterval, .seconds(1) * size / limits.strangersBytesPerSecond)
    let finish = max(finishes[address] ?? .zero, virtualTime) + cost
    if finishes.count >= limits.maximumConnections {
      let now = virtualTime
      finishes = finishes.filter { $0.value > now }
    }
    finishes[address] = finish
    sender.entries.append(Entry(delivery: delivery, cost: cost, finish: finish))
    sender.bytes += size
    bytes += size
    senders[id] = sender
    return (true, displaced)
  }

  /// The next message, if it is time; it is under way until `delivered`.
  mutating func next(now: Instant, limits: RoomLimits) -> RoomDelivery? {
    guard let due = deadline(limits), due <= now else { return nil }
    let first = senders.min { one, other in
      let (left, right) = (one.value.entries.first?.finish, other.value.entries.first?.finish)
      return (left ?? .zero, one.key.number) < (right ?? .zero, other.key.number)
    }
    guard let (id, _) = first, let entry = senders[id]?.entries.popFirst() else { return nil }
    let size = entry.delivery.message.utf8.count
    senders[id]?.bytes -= size
    bytes -= size
    if senders[id]?.entries.isEmpty ?? false { senders[id] = nil }
    virtualTime = entry.finish
    paidUntil = max(paidUntil, now) + entry.cost
    isUnderWay = true
    return entry.delivery
  }

  /// The connection has taken the one under way, or is another one.
  mutating func delivered() {
    isUnderWay = false
  }

  func holds(_ id: RoomConnectionID) -> Bool { senders[id] != nil }

  /// Forgets a connection.
  ///
  /// - Returns: what it had here, in order.
  mutating func remove(_ id: RoomConnectionID) -> [RoomDelivery] {
    guard var sender = senders.removeValue(forKey: id) else { return [] }
    bytes -= sender.bytes
    var deliveries: [RoomDelivery] = []
    while let entry = sender.entries.popFirst() { deliveries.append(entry.delivery) }
    return deliveries
  }
}
