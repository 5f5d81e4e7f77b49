internal import CMosquitto
internal import Glibc

/// What libmosquitto and brokers report, for a person.
enum MQTTWords {
  static let silent = "it does not answer"
  static let closed = "it has closed the connection"
  static let malformed = "what it sends is not MQTT"

  /// - Parameters:
  ///   - result: of a call.
  ///   - log: what the library logged meanwhile.
  static func failure(_ result: Int32, errno error: Int32 = 0, log: [String] = []) -> MQTTProblem {
    switch result {
    case MOSQ_ERR_ERRNO.code where error == EPROTO, MOSQ_ERR_TLS.code: .lost(secure(log))
    case MOSQ_ERR_ERRNO.code: system(error)
    case MOSQ_ERR_CONN_LOST.code: .closed
    case MOSQ_ERR_MALFORMED_PACKET.code, MOSQ_ERR_PROTOCOL.code: .malformed
    case MOSQ_ERR_KEEPALIVE.code: .lost("it no longer answers")
    case MOSQ_ERR_NOMEM.code: .lost("this machine is out of memory")
    default: .lost(String(cString: mosquitto_strerror(result)))
    }
  }

  static func system(_ error: Int32) -> MQTTProblem {
    error == 0 || error == ECONNRESET || error == EPIPE ? .closed : .lost(String(cString: strerror(error)))
  }

  /// `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed`: the last part says it.
  private static func secure(_ log: [String]) -> String {
    var reasons: [String] = []
    for line in log {
      let reason = line.hasPrefix("OpenSSL Error") ? line.split(separator: ":").last.map(String.init) ?? line : line
      if !reasons.contains(reason) { reasons.append(reason) }
    }
    return "TLS fails" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: "; "))
  }

  /// Of CONNACK: return codes of MQTT 3.1.1 section 3.2.2.3, reason codes of MQTT 5 section 3.2.2.2. Some brokers say that
  /// the password is wrong, others that the client is not authorized.
  static func refusal(_ code: Int32) -> String {
    switch code {
    case Int32(CONNACK_REFUSED_BAD_USERNAME_PASSWORD.rawValue), Int32(CONNACK_REFUSED_NOT_AUTHORIZED.rawValue),
      Int32(MQTT_RC_BAD_USERNAME_OR_PASSWORD.rawValue), Int32(MQTT_RC_NOT_AUTHORIZED.rawValue):
      "it does not accept the user name and password"
    case Int32(CONNACK_REFUSED_SERVER_UNAVAILABLE.rawValue): "it refuses us: server unavailable"
    case Int32(CONNACK_REFUSED_IDENTIFIER_REJECTED.rawValue): "it refuses the client identifier"
    default: "it refuses us: \(reason(code))"
    }
  }

  /// Of CONNACK.
  static func isUnsupportedVersion(_ code: Int32) -> Bool {
    code == Int32(CONNACK_REFUSED_PROTOCOL_VERSION.rawValue)
      || code == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue)
  }

  /// A reason code of MQTT 5 section 2.4.
  static func reason(_ code: Int32) -> String {
    code == Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)
      ? "another connection has the same client identifier" : String(cString: mosquitto_reason_string(code))
  }
}
