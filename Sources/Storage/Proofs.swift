public import Control

/// The last proof of hearing and the last alarm drill: `proofs.json` in the state directory. interfaces/files.md, "Files".
public struct Proofs: Codable, Hashable, Sendable {
  public var hearing: HearingDocument?
  public var drill: DrillDocument?

  public init() {}
}
