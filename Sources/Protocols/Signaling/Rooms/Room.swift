internal import Wire

/// The clients of one room, and the messages waiting for absent ones.
struct Room: Sendable {
  struct Waiting: Sendable {
    var delivery: RoomDelivery
    /// The connection that sent it, and its address; it may be gone.
    var source: RoomConnectionID
    var address: IPAddress?
    var until: Instant

    /// What it takes of memory, roughly: short messages are not free.
    var bytes: Int { delivery.message.utf8.count + 256 }
  }

  private let name: String
  /// Apart from the clients: most rooms of a server that many children share have a host alone.
  var host: RoomConnectionID?
  private var clients: [String: RoomConnectionID] = [:]
  /// The signed presence of a host elsewhere, while it is there.
  var presence: String?
  private var waiting: [String: [Waiting]] = [:]
  /// What strangers have sent to a host elsewhere that is here.
  var inbox = HostInbox()
  /// Kept when nobody is in it.
  let isPermanent: Bool

  init(name: String, host: RoomConnectionID? = nil, isPermanent: Bool = false) {
    self.name = name
    self.host = host
    self.isPermanent = isPermanent
  }

  /// The connection of a client; the host has the room's name.
  subscript(client: String) -> RoomConnectionID? {
    get { client == name ? host : clients[client] }
    set { if client == name { host = newValue } else { clients[client] = newValue } }
  }

  /// Without the host.
  var others: some Collection<RoomConnectionID> { clients.values }
  /// With the host.
  var count: Int { clients.count + (host == nil ? 0 : 1) }

  var isWaiting: Bool { !waiting.isEmpty }
  var isEmpty: Bool { !isPermanent && count == 0 && waiting.isEmpty }

  /// When the first message expires.
  var deadline: Instant? { waiting.values.compactMap { $0.first?.until }.min() }

  /// False when too many messages are waiting.
  mutating func wait(_ message: Waiting, for client: String, limits: RoomLimits) -> Bool {
    let before = waiting[client] ?? []
    guard before.count < limits.maximumWaitingMessages, !before.isEmpty || waiting.count < limits.maximumAbsentClients,
      before.isEmpty || before.reduce(message.bytes, { $0 + $1.bytes }) <= limits.maximumWaitingBytesPerClient
    else { return false }
    waiting[client, default: []].append(message)
    return true
  }

  /// All messages waiting for a client, in order; some may have expired.
  mutating func takeWaiting(for client: String) -> [Waiting] {
    waiting.removeValue(forKey: client) ?? []
  }

  /// Drops expired messages and returns them.
  mutating func expire(now: Instant) -> [Waiting] {
    var dropped: [Waiting] = []
    for (client, messages) in waiting {
      let left = messages.filter { $0.until > now }
      guard left.count < messages.count else { continue }
      dropped += messages.filter { $0.until <= now }
      waiting[client] = left.isEmpty ? nil : left
    }
    return dropped
  }
}
