extension Discovery {
  /// The first child that `isWanted`; nil if none appears within `limit`, or immediately if discovery does not work.
  public func resolve(
    within limit: Duration, where isWanted: @escaping @Sendable (DiscoveredChild) -> Bool
  ) async -> DiscoveredChild? {
    await withTaskGroup(of: DiscoveredChild?.self) { group in
      group.addTask {
        for await neighbourhood in browse() {
          if let child = neighbourhood.children.first(where: isWanted) { return child }
          if neighbourhood.problem != nil { return nil }
        }
        return nil
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
