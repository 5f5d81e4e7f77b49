internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import SecureTransport
internal import Wire

/// Why a request got no response.
public enum HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Phase: Hashable, Sendable {
    /// Until the end of the TLS handshake.
    case connecting
    case responding
  }

  /// Nothing listens at the port.
  case connectionRefused
  /// The name has no address.
  case nameNotFound(String)
  /// The name has only addresses that may not be connected to.
  case forbiddenAddress
  /// No route to the host; the text is the system's.
  case unreachable(String)
  case timedOut(Phase)
  /// SHA-256 of the certificate's DER, for a person to compare; nil if the handshake failed before it was received.
  case certificateNotTrusted(sha256: [UInt8]?)
  case tls(String)
  /// The server ended the connection during the TLS handshake.
  case handshakeEnded
  /// The connection ended before the response did.
  case connectionLost
  /// The body exceeds this many bytes; the head that came before it had this status.
  case responseTooLarge(Int, status: Int? = nil)
  /// The response is not HTTP/1.1.
  case protocolError(String)
  /// Too many requests are waiting.
  case tooManyRequests
  /// `close` was called.
  case closed

  public var description: String {
    switch self {
    case .connectionRefused: "the connection was refused; nothing listens at this port"
    case .nameNotFound(let name): "no address belongs to the name \(name)"
    case .forbiddenAddress: "the server's address is in a private network"
    case .unreachable(let reason): "the host cannot be reached: \(reason)"
    case .timedOut(.connecting): "no connection in time"
    case .timedOut(.responding): "no response in time"
    case .certificateNotTrusted(let sha256):
      "the server's certificate is not trusted"
        + (sha256.map { "; its SHA-256 is \($0.hexadecimal(uppercase: true, separator: ":"))" } ?? "")
    case .tls(let reason): "TLS failed: \(reason)"
    case .handshakeEnded: "TLS failed: the server ended the connection during the handshake"
    case .connectionLost: "the connection was lost"
    case .responseTooLarge(let limit, _): "the response is over \(limit) bytes"
    case .protocolError(let reason): "the server's response is not HTTP/1.1: \(reason)"
    case .tooManyRequests: "too many requests are waiting"
    case .closed: "the client is closed"
    }
  }
}

extension HTTPClientError {
  /// From a failed connection attempt.
  init(connecting error: any Error) {
    if let error = error as? HTTPClientError {
      self = error
    } else if let error = error as? NIOConnectionError {
      self.init(error)
    } else if let error = error as? IOError {
      self.init(error)
    } else if case .connectTimeout? = error as? ChannelError {
      self = .timedOut(.connecting)
    } else {
      self = .unreachable("\(error)")
    }
  }

  /// When several addresses were tried, a closed port is more informative than a missing route of the other family.
  private init(_ error: NIOConnectionError) {
    let failures = error.connectionErrors.map { HTTPClientError(connecting: $0.error) }
    if failures.contains(.connectionRefused) {
      self = .connectionRefused
    } else if let first = failures.first {
      self = first
    } else if let known = (error.dnsAError ?? error.dnsAAAAError) as? HTTPClientError {
      self = known
    } else if error.dnsAError != nil || error.dnsAAAAError != nil {
      self = .nameNotFound(error.host)
    } else {
      self = .timedOut(.connecting)
    }
  }

  private init(_ error: IOError) {
    switch error.errnoCode {
    case ECONNREFUSED: self = .connectionRefused
    case ECONNRESET, EPIPE: self = .connectionLost
    case ETIMEDOUT: self = .timedOut(.connecting)
    default: self = .unreachable(String(cString: strerror(error.errnoCode)))
    }
  }

  private init(_ failure: TLSFailure) {
    switch failure {
    case .truncated: self = .connectionLost
    case .certificateRefused(let sha256, _): self = .certificateNotTrusted(sha256: sha256)
    case .notTLS: self = .tls("the server does not speak TLS on this port")
    case .endedDuringHandshake: self = .handshakeEnded
    case .failed(let reason): self = .tls(reason)
    }
  }

  /// From an error on an open connection.
  init(open error: any Error) {
    switch error {
    case let error as HTTPClientError:
      self = error
    case let error as HTTPParserError:
      self = error == .invalidEOFState ? .connectionLost : .protocolError("\(error)")
    case let error as IOError:
      self.init(error)
    case let error as TLSFailure:
      self.init(error)
    case ChannelError.ioOnClosedChannel, ChannelError.eof:
      self = .connectionLost
    default:
      self = .protocolError("\(error)")
    }
  }
}
