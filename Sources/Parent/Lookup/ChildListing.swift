internal import Linux
public import Pairing
internal import Wire

/// A paired child as `children` lists it.
public struct ChildListing: Encodable, Hashable, Sendable {
  public let id: String
  public let name: String
  /// The permissions of this parent.
  public let permissions: [String]
  /// Seconds since 1970-01-01 UTC, as all times here.
  public let pairedAt: Int64
  public let lastSeenAt: Int64?
  /// When the pairing expires; left out for never.
  public let expiresAt: Int64?
  /// Where it was last reached.
  public let host: String?
  public let addresses: [String]
  public let port: UInt16?
  /// Whether it is at its meeting places now: `present`, `absent`, or `unreachable` where none of them answers. Left out
  /// for a child without one.
  public var presence: String?

  public init(_ record: PairRecord) {
    id = record.id
    name = record.name
    permissions = record.permissions.names
    pairedAt = record.createdAt.seconds
    lastSeenAt = record.lastSeenAt?.seconds
    expiresAt = record.expiresAt?.seconds
    host = record.lastAddress?.host
    addresses = record.lastAddress?.addresses.map(\.description) ?? []
    port = record.lastAddress?.port
  }

  public static let heading = ["ID", "NAME", "MAY", "LAST SEEN", "WHERE", "PRESENT", "EXPIRES"]

  /// Cells of a row under `heading`.
  public var row: [String] {
    let address = addresses.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? host
    let place = address.flatMap { address in port.map { "\(address):\($0)" } }
    return [
      id, name, permissions.joined(separator: ","), Self.time(lastSeenAt), place ?? "unknown",
      presence ?? "-", Self.time(expiresAt),
    ]
  }

  private static func time(_ seconds: Int64?) -> String {
    seconds.map { LocalTime.text(unixSeconds: Double($0)) } ?? "never"
  }
}
