import Wire

/// The clients that a child has vouched for, in its own room and elsewhere, counted by the parent that they belong to: a vouch
/// is for a client that has a session, and some time beyond it. Nobody keeps a place for nothing, nor all of them.
struct VouchedClients: Sendable {
  private struct Vouch: Sendable {
    var parent: String
    /// Since when it has no session.
    var idleSince: Instant?
  }

  private let limits: PairedChildLimits
  private var vouches: [RoomClient: Vouch] = [:]
  /// In the order in which they were vouched for.
  private var order: [RoomClient] = []

  init(limits: PairedChildLimits) {
    self.limits = limits
  }

  /// Takes in a client with a session.
  ///
  /// - Parameters:
  ///   - isOwner: the parent has `admin`.
  ///   - isBusy: whether a client has a session.
  /// - Returns: the clients that have to go for it: those without a session first, the oldest first.
  mutating func insert(
    _ client: RoomClient, of parent: String, isOwner: Bool, isBusy: (RoomClient) -> Bool
  ) -> [RoomClient] {
    remove(client)
    vouches[client] = Vouch(parent: parent)
    order.append(client)
    let maximum = isOwner ? limits.maximumVouchesPerOwner : limits.maximumVouchesPerParent
    var gone: [RoomClient] = []
    let own = order.filter { vouches[$0]?.parent == parent && $0 != client }
    if own.count >= maximum, let oldest = own.first(where: { !isBusy($0) }) ?? own.first {
      remove(oldest)
      gone.append(oldest)
    }
    if order.count > limits.maximumVouches, let oldest = order.first(where: { !isBusy($0) && $0 != client }) {
      remove(oldest)
      gone.append(oldest)
    }
    return gone
  }

  /// The clients that lose their vouch now: without a session for too long, or at all when their parent is no longer welcome.
  ///
  /// - Parameters:
  ///   - isBusy: whether a client has a session.
  ///   - isWelcome: whether a parent is paired, and its pairing has not expired.
  mutating func review(
    now: Instant, isBusy: (RoomClient) -> Bool, isWelcome: (_ parent: String) -> Bool
  ) -> [RoomClient] {
    var gone: [RoomClient] = []
    for client in order {
      guard var vouch = vouches[client] else { continue }
      vouch.idleSince = isBusy(client) ? nil : vouch.idleSince ?? now
      vouches[client] = vouch
      guard let since = vouch.idleSince, now - since >= limits.idleVouchTime || !isWelcome(vouch.parent) else {
        continue
      }
      remove(client)
      gone.append(client)
    }
    return gone
  }

  private mutating func remove(_ client: RoomClient) {
    guard vouches.removeValue(forKey: client) != nil else { return }
    order.removeAll { $0 == client }
  }
}
