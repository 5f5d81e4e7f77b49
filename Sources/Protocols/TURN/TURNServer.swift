public import Wire

/// How a client reaches a server. RFC 8656 section 3.1; what is relayed is UDP in any case.
public enum TURNTransport: String, Hashable, Sendable, CaseIterable {
  case udp
  case tcp
  /// TLS over TCP.
  case tls

  /// Whether messages come as a stream of bytes, in which they have to be found.
  public var isStream: Bool { self != .udp }
}

/// One address of a TURN server.
public struct TURNServer: Hashable, Sendable, CustomStringConvertible {
  public var address: TransportAddress
  public var transport: TURNTransport

  public init(address: TransportAddress, transport: TURNTransport) {
    self.address = address
    self.transport = transport
  }

  public var description: String { "\(address) over \(transport.rawValue.uppercased())" }
}
