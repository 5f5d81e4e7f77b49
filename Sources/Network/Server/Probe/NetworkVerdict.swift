public import Wire

/// What the network between this machine and the Internet does to UDP, as STUN servers see it. RFC 4787 section 4.1.
public enum AddressMapping: String, Sendable, Codable {
  /// This machine has the address that servers see.
  case none
  /// The same port for everybody: peers on other networks get through directly.
  case endpointIndependent = "endpoint-independent"
  /// Another port for each destination: what a server saw is of no use to a peer.
  case endpointDependent = "endpoint-dependent"
  /// There is a NAT; one server alone does not tell of which kind.
  case unknown
  /// No server has answered.
  case blocked
}

/// What came of asking one address of a STUN or TURN server.
public struct ServerAnswer: Sendable, Hashable {
  public enum Outcome: Sendable, Hashable {
    /// Our address as the server sees it.
    case mapped(TransportAddress)
    /// The address that the server lent us.
    case relayed(TransportAddress)
    /// For a person.
    case failed(String)
  }

  /// As in the configuration, with all defaults spelled out.
  public var url: String
  public var outcome: Outcome
}

/// How well this machine can be reached from elsewhere.
public struct NetworkVerdict: Sendable, Hashable {
  public var answers: [ServerAnswer]
  public var mapping: AddressMapping

  /// - Parameters:
  ///   - mapped: our address as each server address saw it, over UDP and from one socket.
  ///   - own: the addresses of this machine.
  public init(answers: [ServerAnswer], mapped: [TransportAddress], own: [IPAddress]) {
    self.answers = answers
    // A host may have both families; each is seen in its own way.
    let seen = mapped.contains { !$0.ip.isIPv6 } ? mapped.filter { !$0.ip.isIPv6 } : mapped
    mapping =
      if seen.isEmpty {
        .blocked
      } else if seen.allSatisfy({ own.contains($0.ip) }) {
        .none
      } else if Set(seen).count > 1 {
        .endpointDependent
      } else {
        seen.count > 1 ? .endpointIndependent : .unknown
      }
  }

  public var hasRelay: Bool {
    answers.contains { if case .relayed = $0.outcome { true } else { false } }
  }

  /// Nobody elsewhere gets through.
  public var isUnreachable: Bool { mapping == .blocked && !hasRelay }

  /// For a person: `direct from most networks`, and the like.
  public var summary: String {
    switch (mapping, hasRelay) {
    case (.none, _): "direct from everywhere: no router hides this machine"
    case (.endpointIndependent, true): "direct from most networks, through a relay from the others"
    case (.endpointIndependent, false):
      "direct from most networks; a few (mobile ones, offices) need a relay, and there is none"
    case (.endpointDependent, true):
      "through a relay from most networks: the router takes another port for each destination"
    case (.endpointDependent, false):
      "needs a relay, and there is none: the router takes another port for each destination"
    case (.unknown, true): "probably direct from most networks, through a relay from the others"
    case (.unknown, false): "probably direct from most networks; a second STUN server would tell"
    case (.blocked, true): "through a relay alone: no STUN server answers over UDP"
    case (.blocked, false): "unreachable from other networks: no STUN or TURN server has answered"
    }
  }
}
