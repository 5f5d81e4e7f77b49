public import Control

/// The last proof of hearing and the last fire drill: `proofs.json` in the state directory. interfaces/files.md, "Files".
public struct ProofStore: Sendable {
  private let store: JSONStore

  public struct Proofs: Codable, Hashable, Sendable {
    public var hearing: HearingDocument?
    public var drill: DrillDocument?

    public init(hearing: HearingDocument? = nil, drill: DrillDocument? = nil) {
      self.hearing = hearing
      self.drill = drill
    }
  }

  /// - Parameter file: in the state directory. It is not accessed yet.
  public init(file: AtomicFile) {
    store = JSONStore(file: file)
  }

  /// Nothing before the first. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public func load() throws(StoreError) -> Proofs {
    try store.load(Proofs.self) ?? Proofs()
  }

  /// Throws `StoreError.file`; what is stored is kept then.
  public func save(_ proofs: Proofs) throws(StoreError) {
    try store.save(proofs)
  }
}
