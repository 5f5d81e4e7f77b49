internal import FoundationEssentials
public import Pairing

/// What is known of the date: `clock.json` in the state directory. interfaces/files.md, "Files".
public struct ClockStore: Sendable {
  private let store: JSONStore<Content>

  private struct Content: Codable {
    struct Jump: Codable {
      var to: Date
      /// Whole seconds of evidence.
      var seconds: Int64
    }

    var latest: Date
    var certain: Date?
    var jump: Jump?
  }

  /// - Parameter file: in the state directory. It is not accessed yet.
  public init(file: AtomicFile) {
    store = JSONStore(file: file)
  }

  /// The stored mark; nil if there is none yet. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public func load() throws(StoreError) -> TrustedClock.Mark? {
    guard let content = try store.load() else { return nil }
    let latest = UnixTime(date: content.latest)
    let certain = content.certain.map(UnixTime.init(date:))
    if let jump = content.jump {
      let evidence = Duration.seconds(min(max(jump.seconds, 0), TrustedClock.evidenceNeeded.components.seconds))
      return .init(latest: latest, certain: certain, jump: .init(to: UnixTime(date: jump.to), evidence: evidence))
    }
    // Earlier versions kept the latest date alone, however it came about.
    guard let certain else { return .init(latest: latest, certain: nil, jump: .init(to: latest, evidence: .zero)) }
    return .init(latest: max(latest, certain), certain: max(latest, certain), jump: nil)
  }

  /// Replaces the stored mark. Throws `StoreError.file`; the old one is kept then.
  public func save(_ mark: TrustedClock.Mark) throws(StoreError) {
    try store.save(
      Content(
        latest: mark.latest.date, certain: mark.certain?.date,
        jump: mark.jump.map { .init(to: $0.to.date, seconds: $0.evidence.components.seconds) }))
  }
}
