public import Wire

/// Why there is no allocation, or no longer. The description is for people.
public enum TURNFailure: Error, Hashable, Sendable {
  /// 401: the server does not know the name, or the password is wrong.
  case unauthorized
  /// The credentials' time is over.
  case credentialsExpired
  /// 441: the allocation was made with other credentials.
  case wrongCredentials
  /// 437: the server has another allocation for this socket, or none any more. Start again from a new socket.
  case mismatch
  /// 486: the user's limit of allocations is reached.
  case quotaReached
  /// 508: the server has no relayed address left. Later it may have.
  case insufficientCapacity
  /// 440: the server has no addresses of the family.
  case familyNotSupported
  /// 300: another server is to be used. `TURNRedirections` keeps servers from sending a client in circles.
  case redirected(to: TransportAddress)
  /// Any other refusal, with the server's words: printable, 100 characters at most.
  case refused(code: Int, reason: String)
  /// The server does not answer.
  case timedOut
  /// The socket or connection to the server is gone.
  case transportLost(String)
  /// The server breaks the protocol; the text says how.
  case serverMisbehaved(String)
  /// `close` was called.
  case closed

  /// What the owner can do about it.
  public enum Remedy: Hashable, Sendable {
    /// The same again from a new socket, at once.
    case newSocket
    /// The same again after a while.
    case later
    /// The same at this address.
    case elsewhere(TransportAddress)
    /// Ask for other credentials.
    case newCredentials
    case none
  }

  public var remedy: Remedy {
    switch self {
    case .mismatch: .newSocket
    case .unauthorized, .credentialsExpired, .wrongCredentials: .newCredentials
    case .quotaReached, .insufficientCapacity, .timedOut, .transportLost: .later
    case .redirected(let address): .elsewhere(address)
    // 5xx is the server's own trouble. RFC 8489 section 14.8.
    case .refused(let code, _): code >= 500 && code < 600 ? .later : .none
    case .familyNotSupported, .serverMisbehaved, .closed: .none
    }
  }
}

extension TURNFailure {
  /// From an error response. RFC 8656 section 19, RFC 8489 section 14.8.
  init(code: Int, reason: String) {
    switch code {
    case 401: self = .unauthorized
    case 437: self = .mismatch
    case 440: self = .familyNotSupported
    case 441: self = .wrongCredentials
    case 486: self = .quotaReached
    case 508: self = .insufficientCapacity
    default:
      self = .refused(code: code, reason: reason.printable(maximum: 100))
    }
  }
}

extension TURNFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unauthorized: "the TURN server refuses the user name or the password"
    case .credentialsExpired: "the credentials for the TURN server have expired"
    case .wrongCredentials: "the TURN server has this allocation under another user name"
    case .mismatch: "the TURN server does not know this allocation, or has another one for this port"
    case .quotaReached: "the user has as many allocations as the TURN server allows"
    case .insufficientCapacity: "the TURN server has no room for another allocation"
    case .familyNotSupported: "the TURN server has no addresses of this family (IPv4 or IPv6)"
    case .redirected(let address): "the TURN server sends its users to \(address)"
    case .refused(let code, let reason): "the TURN server refuses with \(code)" + (reason.isEmpty ? "" : ": \(reason)")
    case .timedOut: "the TURN server does not answer"
    case .transportLost(let reason): "the connection to the TURN server is lost: \(reason)"
    case .serverMisbehaved(let reason): "the TURN server does not keep to the protocol: \(reason)"
    case .closed: "the allocation was given up"
    }
  }
}

/// The servers to which a client has been sent, so that none is asked twice. RFC 8489 section 10.
public struct TURNRedirections: Sendable {
  private var asked: Set<TransportAddress>
  /// More steps than any operator needs.
  public static let maximum = 4

  /// - Parameter first: the server that is asked first.
  public init(first: TransportAddress) {
    asked = [first]
  }

  /// Whether to go on at `address`: false for one that has been asked, for one of another family, and after the
  /// maximum of steps.
  public mutating func follow(to address: TransportAddress) -> Bool {
    guard asked.count <= Self.maximum, asked.allSatisfy({ $0.ip.isIPv6 == address.ip.isIPv6 }) else { return false }
    return asked.insert(address).inserted
  }
}
