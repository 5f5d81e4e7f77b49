internal import Wire

/// A STUN or TURN server's address. RFC 7064 section 3.1, RFC 7065 section 3.1.
public struct ICEServerURL: LosslessStringConvertible, Hashable, Sendable {
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    case stun, stuns, turn, turns

    public var isTURN: Bool { self == .turn || self == .turns }
    /// RFC 8489 section 18.6, RFC 8656 section 20.
    public var defaultPort: UInt16 { self == .stun || self == .turn ? 3478 : 5349 }
  }

  public enum Transport: String, Sendable, Hashable {
    case udp, tcp
  }

  public let scheme: Scheme
  /// Host name or address, without brackets.
  public let host: String
  public let port: UInt16
  /// How to reach a TURN server. RFC 7065: by default UDP for `turn`, TCP for `turns`.
  public let transport: Transport

  /// The allowed forms, for an error message.
  public static let allowed =
    "stun:host, stuns:host, turn:host?transport=udp or turns:host?transport=tcp, each with :port if not the usual one"

  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":"), let scheme = Scheme(rawValue: String(text[..<colon])) else {
      return nil
    }
    let parts = text[text.index(after: colon)...].split(separator: "?", omittingEmptySubsequences: false)
    guard let authority = parts.first, parts.count <= 2,
      let (host, port) = HostAndPort.split(String(authority)), port != 0
    else { return nil }
    var transport: Transport = scheme == .turns || scheme == .stuns ? .tcp : .udp
    if parts.count == 2 {
      let key = "transport="
      guard scheme.isTURN, parts[1].hasPrefix(key),
        let named = Transport(rawValue: String(parts[1].dropFirst(key.count)))
      else { return nil }
      transport = named
    }
    self.scheme = scheme
    self.host = host
    self.port = port ?? scheme.defaultPort
    self.transport = transport
  }

  /// The URL with all defaults spelled out.
  public var description: String {
    "\(scheme):\(host.contains(":") ? "[\(host)]" : host):\(port)" + (scheme.isTURN ? "?transport=\(transport)" : "")
  }
  /// How a TURN client reaches it; nil for STUN, and for `turns` over UDP, which is DTLS and not spoken here.
  public var turnTransport: TURNTransport? {
    switch (scheme, transport) {
    case (.turn, .udp): .udp
    case (.turn, .tcp): .tcp
    case (.turns, .tcp): .tls
    case (.turns, .udp), (.stun, _), (.stuns, _): nil
    }
  }
}
