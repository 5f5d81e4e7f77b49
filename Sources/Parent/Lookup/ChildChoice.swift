internal import Discovery
internal import Pairing

/// Resolves what a person typed to a child.
enum ChildChoice {
  /// Among the paired children. Without a text: the only one.
  static func paired(_ text: String?, in book: PairBook) throws(FindingError) -> PairRecord {
    guard let text else {
      guard let first = book.records.first else { throw .nothingPaired }
      guard book.records.count == 1 else { throw .severalPaired(book.records) }
      return first
    }
    switch book.find(text) {
    case .found(let record): return record
    case .ambiguous(let records): throw .ambiguous(text, ids: records.map(\.id))
    case .none: throw .notPaired(text, paired: book.records.map(\.name))
    }
  }

  /// Among the children on the network. Without a text: the only one that is open for pairing, else the only one.
  static func found(_ text: String?, in neighbourhood: Neighbourhood) throws(FindingError) -> DiscoveredChild {
    let children = neighbourhood.children
    guard let text else {
      for candidates in [children.filter { $0.pairing == .open }, children] where !candidates.isEmpty {
        guard candidates.count == 1 else { throw .severalFound(candidates) }
        return candidates[0]
      }
      throw .nothingFound(neighbourhood.problem)
    }
    let byName = text.lowercased()
    for matches in [
      children.filter { $0.id == text }, children.filter { $0.name == text },
      children.filter { $0.name.lowercased() == byName }, children.filter { PairBook.isID($0.id, text) },
    ] where !matches.isEmpty {
      guard matches.count == 1 else { throw .ambiguous(text, ids: matches.map(\.id)) }
      return matches[0]
    }
    throw .notFound(text, neighbourhood.problem)
  }
}
