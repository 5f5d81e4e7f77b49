public import Wire

/// The type of a candidate. RFC 8445 section 4; the raw value is the `typ` of RFC 8839 section 5.1.
public enum ICECandidateType: String, Hashable, Sendable, CaseIterable {
  case host
  case serverReflexive = "srflx"
  case peerReflexive = "prflx"
  case relayed = "relay"

  /// RFC 8445 section 5.1.2.2: the recommended values.
  var preference: UInt32 {
    switch self {
    case .host: 126
    case .peerReflexive: 110
    case .serverReflexive: 100
    case .relayed: 0
    }
  }
}

/// The transport protocol of a candidate. RFC 8839 section 5.1, RFC 6544 section 4.5.
public enum ICETransport: Hashable, Sendable {
  case udp
  /// Recognised but ignored: this agent pairs UDP candidates only.
  case tcp
  case other(String)

  var text: String {
    switch self {
    case .udp: "udp"
    case .tcp: "tcp"
    case .other(let name): name
    }
  }
}

/// One address at which an agent may be reached. RFC 8445 section 5.1.
public struct ICECandidate: Hashable, Sendable {
  public enum Address: Hashable, Sendable {
    case ip(TransportAddress)
    /// A name to be resolved: browsers hide host addresses behind mDNS names ending in `.local`.
    case name(String, port: UInt16)
  }

  /// One `name value` pair after the fixed fields, such as `generation 0` or `tcptype passive`.
  public struct Extension: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// 1...32 ice-chars; the same for candidates that are likely to work or fail alike.
  public var foundation: String
  /// 1 for RTP, and for everything with rtcp-mux.
  public var component: Int
  public var transport: ICETransport
  public var priority: UInt32
  public var address: Address
  public var type: ICECandidateType
  /// The base of a reflexive candidate, the reflexive address of a relayed one. Nil for hosts, or if hidden.
  public var relatedAddress: TransportAddress?
  /// The generation that the candidate belongs to, by its `ufrag` extension (RFC 8838 section 6).
  public var usernameFragment: String?
  /// All further extensions, in order.
  public var extensions: [Extension]

  public init(
    foundation: String, component: Int = 1, transport: ICETransport = .udp, priority: UInt32, address: Address,
    type: ICECandidateType, relatedAddress: TransportAddress? = nil, usernameFragment: String? = nil,
    extensions: [Extension] = []
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.type = type
    self.relatedAddress = relatedAddress
    self.usernameFragment = usernameFragment
    self.extensions = extensions
  }

  /// A UDP host candidate. `localPreference` ranks our own addresses: higher is better.
  public static func host(_ address: TransportAddress, localPreference: UInt16 = 65535) -> ICECandidate {
    ICECandidate(
      foundation: foundation(.host, base: address.ip), priority: priority(.host, localPreference: localPreference),
      address: .ip(address), type: .host)
  }

  /// The address of `base` as a STUN server sees it.
  public static func serverReflexive(
    _ address: TransportAddress, base: TransportAddress, localPreference: UInt16 = 65535
  ) -> ICECandidate {
    ICECandidate(
      foundation: foundation(.serverReflexive, base: base.ip),
      priority: priority(.serverReflexive, localPreference: localPreference),
      address: .ip(address), type: .serverReflexive, relatedAddress: base)
  }

  /// An address on a TURN server. Datagrams from it are transmitted `from` this address; the shell sends them through
  /// the server.
  public static func relayed(
    _ address: TransportAddress, related: TransportAddress?, localPreference: UInt16 = 65535
  ) -> ICECandidate {
    ICECandidate(
      foundation: foundation(.relayed, base: address.ip),
      priority: priority(.relayed, localPreference: localPreference),
      address: .ip(address), type: .relayed, relatedAddress: related)
  }

  /// RFC 8445 section 5.1.2.1, for component 1.
  static func priority(_ type: ICECandidateType, localPreference: UInt16) -> UInt32 {
    type.preference << 24 | UInt32(localPreference) << 8 | 255
  }

  /// The same for the same type and base address (RFC 8445 section 5.1.1.3): FNV-1a over both, as decimal text. It
  /// need not hide the address, which the candidate names anyway.
  static func foundation(_ type: ICECandidateType, base: IPAddress) -> String {
    var hash: UInt32 = 0x811c_9dc5
    for byte in Array(type.rawValue.utf8) + base.bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return String(hash)
  }

  /// The address; nil for a name.
  public var transportAddress: TransportAddress? {
    if case .ip(let address) = address { address } else { nil }
  }

  /// Whether the address is an mDNS name that can be resolved on the link.
  public var isMulticastDNSName: Bool {
    guard case .name(let name, _) = address else { return false }
    return name.lowercased().hasSuffix(".local")
  }

  /// The address that this local candidate sends from. RFC 8445 section 4, "base".
  var base: TransportAddress? {
    switch type {
    case .host, .relayed: transportAddress
    case .serverReflexive, .peerReflexive: relatedAddress
    }
  }

  /// The value of PRIORITY: the priority for a peer-reflexive candidate learned from the check. RFC 8445 section 7.1.1.
  var peerReflexivePriority: UInt32 { ICECandidateType.peerReflexive.preference << 24 | priority & 0x00ff_ffff }
}

extension TransportAddress {
  /// Whether a datagram can be sent to the address at all.
  var isReachable: Bool {
    guard port != 0, !ip.isUnspecified else { return false }
    switch ip {
    // Multicast, reserved and broadcast addresses cannot be peers.
    case .v4(let value): return value >> 28 < 0xe
    // A link-local address needs a zone, which `IPAddress` does not carry.
    case .v6(let high, _): return high >> 56 != 0xff && !ip.isLinkLocal
    }
  }
}

extension ICECandidatePair {
  /// Human-readable: `host 192.0.2.1:5000 ↔ prflx 192.0.2.7:40000`.
  public var text: String {
    "\(local.type.rawValue) \(localAddress) ↔ \(remote.type.rawValue) \(remoteAddress)"
  }
}
