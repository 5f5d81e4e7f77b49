/// Where an MQTT broker is: `mqtt://HOST[:1883]`, or `mqtts://HOST[:8883]` for TLS. No standard defines these schemes; clients
/// and brokers use them in this way.
public struct BrokerURL: Hashable, Sendable {
  /// A name in lower case, or an address: IPv6 without brackets.
  public var host: String
  public var port: UInt16
  public var isEncrypted: Bool

  /// What a text must be, after "must be".
  public static let allowed = "an mqtts:// or mqtt:// URL without a path, such as mqtts://broker.example.org"

  /// Nil without a host or a port.
  public init?(host: String, port: UInt16, isEncrypted: Bool) {
    guard !host.isEmpty, port != 0 else { return nil }
    self.host = host
    self.port = port
    self.isEncrypted = isEncrypted
  }

  /// Nil for anything else, and for a URL with a user name or a path.
  public init?(_ text: String) {
    let schemes = [("mqtt://", false, UInt16(1883)), ("mqtts://", true, 8883)]
    guard let (scheme, isEncrypted, usualPort) = schemes.first(where: { text.hasPrefix($0.0) }) else { return nil }
    let authority = text.dropFirst(scheme.count)
    guard authority.utf8.count <= 261, !authority.utf8.contains(where: { "/?#@".utf8.contains($0) }) else { return nil }
    // The host as in a URL of the Web. A port that is given is the same for both of the Web's schemes.
    guard let plain = try? HTTPURL("http://" + authority).origin,
      let encrypted = try? HTTPURL("https://" + authority).origin
    else { return nil }
    host = plain.host.description
    port = plain.port == encrypted.port ? plain.port : usualPort
    self.isEncrypted = isEncrypted
    guard !host.isEmpty, port != 0 else { return nil }
  }
}
