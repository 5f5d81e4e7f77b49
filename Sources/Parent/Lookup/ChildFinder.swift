public import Discovery
internal import Pairing

/// Finds children: those on the network, and those that are paired with this parent.
public struct ChildFinder: Sendable {
  /// A child's answer to a query takes a fraction of a second; a second query follows after one (RFC 6762 section 5.2).
  private static let patience: Duration = .seconds(2)
  /// What the network at home has before addresses elsewhere are tried.
  private static let headStart: Duration = .milliseconds(300)
  /// Long enough for every child to answer a first query.
  public static let lookAround: Duration = .milliseconds(1200)

  /// Responders answer a query within 120 ms of each other (RFC 6762 section 6).
  private static let settling: Duration = .milliseconds(250)

  private let state: ParentState
  private let discovery: any Discovery

  public init(state: ParentState, discovery: any Discovery = DNSServiceDiscovery()) {
    self.state = state
    self.discovery = discovery
  }

  /// The paired child that `text` means: its name, id (the first digits do) or address. Nil: the only one.
  ///
  /// - Throws: `FindingError`, or what reading the parent's state throws.
  public func paired(_ text: String?) async throws -> PairedChild {
    let book = try state.pairs()
    guard let text, let address = ChildAddress(text) else {
      let record = try await paired(text, in: book)
      let away = AwayNotes(child: record.id, state: state)
      return PairedChild(record: record, state: state, identity: try state.identity(), away: away) {
        route(to: record, away)
      }
    }
    guard !book.records.isEmpty else { throw FindingError.nothingPaired }
    let id = try await ChildProbe.id(at: address)
    // A child with a certificate of the family's own does not show its key; then it has to be the only paired one.
    let record =
      switch book.find(id) {
      case .found(let record): record
      case .ambiguous, .none: try ChildChoice.paired(nil, in: book)
      }
    let away = AwayNotes(child: record.id, state: state)
    return PairedChild(record: record, state: state, identity: try state.identity(), away: away) {
      AsyncStream { continuation in
        continuation.yield(address)
        continuation.finish()
      }
    }
  }

  /// By what this parent calls it, else by what the network does: `Nursery #2` may have been paired as `Nursery`.
  private func paired(_ text: String?, in book: PairBook) async throws -> PairRecord {
    do throws(FindingError) {
      return try ChildChoice.paired(text, in: book)
    } catch {
      guard case .notPaired(let text, _) = error, !book.records.isEmpty else { throw error }
      let (ids, name) = (Set(book.records.map(\.id)), text.lowercased())
      let found = await discovery.resolve(within: Self.patience) { ids.contains($0.id) && $0.name.lowercased() == name }
      guard let record = book.records.first(where: { $0.id == found?.id }) else { throw error }
      return record
    }
  }

  /// A child that need not be paired: `text` is a name, an id or an address. Nil: the only one.
  ///
  /// - Returns: its addresses, and the name under which it was found on the network.
  /// - Throws: `FindingError`.
  public func find(_ text: String?) async throws -> (addresses: [ChildAddress], announcedName: String?) {
    if let text, let address = ChildAddress(text) { return ([address], nil) }
    let child = try ChildChoice.found(text, in: await look(for: text))
    guard child.isOnlyLinkLocal else { return (ChildAddress.all(of: child), child.name) }
    // Its other addresses may come a moment later.
    let again = await look(within: Self.lookAround) { now in
      now.children.contains { $0.id == child.id && !$0.isOnlyLinkLocal }
    }
    guard let better = again.children.first(where: { $0.id == child.id && !$0.isOnlyLinkLocal }) else {
      throw FindingError.onlyLinkLocal(child.name)
    }
    return (ChildAddress.all(of: better), better.name)
  }

  /// The children on the network. Returns as soon as the one that is looked for has been found.
  private func look(for text: String?) async -> Neighbourhood {
    if text != nil {
      return await look(within: Self.patience) { (try? ChildChoice.found(text, in: $0)) != nil }
    }
    let first = await look(within: Self.lookAround) { now in now.children.contains { $0.pairing == .open } }
    guard first.children.contains(where: { $0.pairing == .open }) else { return first }
    // If there is a second child that is open for pairing, it has answered the same query.
    let second = await look(within: Self.settling) { _ in false }
    return second.children.count > first.children.count ? second : first
  }

  private func look(
    within limit: Duration, until isEnough: @escaping @Sendable (Neighbourhood) -> Bool
  ) async -> Neighbourhood {
    await withTaskGroup(of: Neighbourhood?.self) { group in
      group.addTask {
        var newest = Neighbourhood()
        for await neighbourhood in discovery.browse() {
          newest = neighbourhood
          if neighbourhood.problem != nil || isEnough(neighbourhood) { break }
        }
        return newest
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      var newest = Neighbourhood()
      while let result = await group.next() {
        group.cancelAll()
        if let result { newest = result }
      }
      return newest
    }
  }

  /// The addresses of a paired child, best first: the last known ones at once, because whoever answers has to prove its
  /// identity anyway; then those that it announces.
  private func route(to record: PairRecord, _ away: AwayNotes) -> AsyncStream<ChildAddress> {
    let known = (try? state.pairs())?.records.first { $0.id == record.id }?.lastAddress
    return AsyncStream { continuation in
      let looking = Task {
        let before = known.map(ChildAddress.all(of:)) ?? []
        for address in before { continuation.yield(address) }
        // At home the addresses above answer sooner, or those that the child announces.
        let elsewhere = Task {
          try await Task.sleep(for: Self.headStart)
          for address in away.addresses where !before.contains(address) { continuation.yield(address) }
        }
        let child = await discovery.resolve(within: Self.patience) { $0.id == record.id }
        for address in child.map(ChildAddress.all(of:)) ?? [] where !before.contains(address) {
          continuation.yield(address)
        }
        _ = await elsewhere.result
        continuation.finish()
      }
      continuation.onTermination = { _ in looking.cancel() }
    }
  }
}
