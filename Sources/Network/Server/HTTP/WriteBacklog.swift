internal import Wire

/// Bounds what waits in memory for clients that do not read: for one connection, for one address and for all, and how long.
///
/// A client that reads leaves nothing here but for moments. When an address, or all together, leave too much unread, the
/// connections that have taken nothing for the longest time are closed, whoever they belong to.
struct WriteBacklog {
  typealias ID = ConnectionTable.ID

  struct Limits: Sendable {
    /// Bytes of one connection: a WebSocket's unsent messages, their TLS records and one more message.
    var connection = 256 * 1024
    /// Bytes of all connections from one address. A household behind one router is one address.
    var address = 1024 * 1024
    /// Bytes of all connections.
    var total = 4 * 1024 * 1024
    /// How long a client may take for `progress` bytes, or for everything when less than that waits.
    var patience: Duration = .seconds(10)
    /// 13 kbit/s: who is slower could not watch either.
    var progress = 16 * 1024
  }

  private struct Entry {
    var address: IPAddress?
    var waiting: Int
    /// When the client had taken `taken` bytes in all; it owes `due` more.
    var since: Instant
    var taken: Int
    var due: Int
  }

  private let limits: Limits
  private var entries: [ID: Entry] = [:]
  private var byAddress: [IPAddress?: Int] = [:]
  /// Bytes that wait, of all connections.
  private(set) var total = 0

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Updates how much waits for a connection.
  ///
  /// - Parameters:
  ///   - waiting: bytes that the kernel has not taken yet.
  ///   - taken: bytes that it has taken since the connection began.
  /// - Returns: the connections to close, which are forgotten here.
  mutating func update(_ id: ID, from address: IPAddress?, waiting: Int, taken: Int, now: Instant) -> [ID] {
    guard waiting > 0 else {
      remove(id)
      return []
    }
    var entry = entries[id] ?? Entry(address: address, waiting: 0, since: now, taken: taken, due: 0)
    count(waiting - entry.waiting, from: entry.address)
    entry.waiting = waiting
    if entry.due == 0 || taken - entry.taken >= entry.due {
      (entry.since, entry.taken, entry.due) = (now, taken, min(waiting, limits.progress))
    }
    entries[id] = entry
    var closed: [ID] = []
    if waiting > limits.connection { close(id, &closed) }
    while byAddress[entry.address, default: 0] > limits.address, let slowest = slowest(of: { $0 == entry.address }) {
      close(slowest, &closed)
    }
    while total > limits.total, let slowest = slowest(of: { _ in true }) { close(slowest, &closed) }
    return closed
  }

  /// When the connection is to be closed unless its client has taken more; nil when nothing waits for it.
  func deadline(of id: ID) -> Instant? { entries[id].map { $0.since + limits.patience } }

  /// The connection is gone, or nothing waits for it. Unknown ids are ignored.
  mutating func remove(_ id: ID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    count(-entry.waiting, from: entry.address)
  }

  private mutating func close(_ id: ID, _ closed: inout [ID]) {
    remove(id)
    closed.append(id)
  }

  private mutating func count(_ bytes: Int, from address: IPAddress?) {
    total += bytes
    let left = byAddress[address, default: 0] + bytes
    byAddress[address] = left > 0 ? left : nil
  }

  /// The one that has taken nothing for the longest time; of several the oldest.
  private func slowest(of belongs: (IPAddress?) -> Bool) -> ID? {
    entries.filter { belongs($0.value.address) }
      .min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }?.key
  }
}
