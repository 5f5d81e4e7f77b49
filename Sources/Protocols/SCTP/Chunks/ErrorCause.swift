import Wire

/// Why a peer sent ABORT or ERROR. RFC 9260 section 3.3.10.
struct ErrorCause: Hashable, Sendable {
  var code: UInt16
  var information: ArraySlice<UInt8>

  static let invalidStream: UInt16 = 1
  static let staleCookie: UInt16 = 3
  static let unresolvableAddress: UInt16 = 5
  static let unrecognizedChunk: UInt16 = 6
  static let noUserData: UInt16 = 9
  static let userInitiatedAbort: UInt16 = 12
  static let protocolViolation: UInt16 = 13

  static func list(_ value: ArraySlice<UInt8>) throws(WireError) -> [ErrorCause] {
    var causes: [ErrorCause] = []
    try Parameter.forEach(in: value) { parameter in
      causes.append(ErrorCause(code: parameter.type, information: parameter.value))
      return causes.count < 8
    }
    return causes
  }

  /// For a log; the peer's text is truncated and its control characters replaced.
  var description: String {
    let name =
      switch code {
      case Self.invalidStream: "invalid stream identifier"
      case 2: "missing mandatory parameter"
      case Self.staleCookie: "stale cookie"
      case 4: "out of resource"
      case Self.unresolvableAddress: "unresolvable address"
      case Self.unrecognizedChunk: "unrecognized chunk type"
      case 7: "invalid mandatory parameter"
      case 8: "unrecognized parameters"
      case Self.noUserData: "no user data"
      case 10: "cookie received while shutting down"
      case 11: "restart with new addresses"
      case Self.userInitiatedAbort: "user-initiated abort"
      case Self.protocolViolation: "protocol violation"
      default: "cause \(code)"
      }
    guard code == Self.userInitiatedAbort || code == Self.protocolViolation, !information.isEmpty else { return name }
    let printable = information.prefix(80).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
    return "\(name): \(String(decoding: printable, as: UTF8.self))"
  }
}
