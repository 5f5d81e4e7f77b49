internal import JSON

/// `cradle-rendezvous status --json`.
public struct RendezvousStatus: Codable, Sendable {
  public var names: [String]
  public var version: String
  /// SHA-256 over the server's key, for `key-sha256` of children; nil with a certificate of an authority.
  public var keySHA256: String?
  /// Children that are here.
  public var children: Int
  /// Of children, parents and strangers.
  public var connections: Int
  public var uptimeSeconds: Double

  public var json: String { JSON.text(self) }
}

extension RendezvousStatus {
  /// Reads what the running server has answered; nil if it is of another version.
  public init?(json: [UInt8]) {
    guard let value = try? JSON(json, maximumBytes: 64 * 1024).decode(RendezvousStatus.self) else { return nil }
    self = value
  }
}
