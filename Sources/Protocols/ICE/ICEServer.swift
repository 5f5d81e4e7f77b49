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
      let query = parts[1].split(separator: "=", omittingEmptySubsequences: false)
      guard scheme.isTURN, query.count == 2, query[0] == "transport", let named = Transport(rawValue: String(query[1]))
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
}

/// A STUN or TURN server and the credentials for it, like a browser's RTCIceServer.
public struct ICEServer: Sendable, Hashable {
  /// 1...8 addresses of the same server.
  public var urls: [ICEServerURL]
  /// Given together with `credential`; required for TURN.
  public var username: String?
  public var credential: String?

  public init(urls: [ICEServerURL], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }

  /// When time-limited credentials end, in seconds of unix time: their username begins with it and a colon
  /// (draft-uberti-behave-turn-rest-00 section 2.2). Nil for others.
  public var expiresAt: Int64? {
    guard let username, let colon = username.firstIndex(of: ":"), let time = Int64(username[..<colon]),
      time > 1_000_000_000
    else { return nil }
    return time
  }
}

extension ICEServer: CustomStringConvertible {
  /// Without the credential.
  public var description: String { urls.map(\.description).joined(separator: " ") }
}
