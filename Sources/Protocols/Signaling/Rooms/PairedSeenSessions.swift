/// Limits on parents' sessions with one child.
public struct PairedChildLimits: Sendable {
  /// As many as there are places for viewers, and a few that are about to leave.
  public var maximumSessions = 48
  /// As many as an administrator may have at once, and a few that are about to leave or will be refused.
  public var maximumSessionsPerParent = 24
  /// Sessions of which only candidates have arrived.
  public var maximumEarlySessionsPerParent = 4
  /// How long those candidates wait for their offer.
  public var earlyTime: Duration = .seconds(10)
  /// Ended sessions that are remembered, for each parent.
  public var rememberedSessionsPerParent = 256
  /// Parents with remembered sessions: as many as can be paired.
  public var rememberedParents = 64
  /// Clients of one parent that are vouched for at once.
  public var maximumVouchesPerParent = 4
  /// The same of a parent with `admin`, whose pairing several programs and devices share.
  public var maximumVouchesPerOwner = 16
  /// Of all parents: the child's own room has 64 places, and some are to remain for newcomers.
  public var maximumVouches = 48
  /// How long a client is vouched for without a session.
  public var idleVouchTime: Duration = .seconds(15)

  public init() {}
}

/// Sessions that have been seen, so that none is opened twice. The oldest of the same parent are forgotten first.
struct SeenSessions: Sendable {
  private struct Memory: Sendable {
    var names: Set<String> = []
    /// In order of arrival; a ring buffer.
    var order: [String] = []
    var next = 0
    var lastUse: UInt64 = 0
  }

  private let perParent: Int
  private let parents: Int
  private var memories: [String: Memory] = [:]
  private var uses: UInt64 = 0

  init(perParent: Int, parents: Int) {
    self.perParent = perParent
    self.parents = parents
  }

  func contains(_ id: PairedSessionID) -> Bool {
    memories[id.parent]?.names.contains(id.session) ?? false
  }

  mutating func insert(_ id: PairedSessionID) {
    if memories[id.parent] == nil, memories.count >= parents,
      let oldest = memories.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      memories[oldest.key] = nil
    }
    uses &+= 1
    memories[id.parent, default: Memory()].lastUse = uses
    guard memories[id.parent]?.names.insert(id.session).inserted == true, let count = memories[id.parent]?.order.count
    else { return }
    guard count >= perParent else {
      memories[id.parent]?.order.append(id.session)
      return
    }
    replaceOldest(of: id)
  }

  private mutating func replaceOldest(of id: PairedSessionID) {
    guard var memory = memories[id.parent] else { return }
    memory.names.remove(memory.order[memory.next])
    memory.order[memory.next] = id.session
    memory.next = (memory.next + 1) % perParent
    memories[id.parent] = memory
  }
}
