internal import Glibc
public import SecureTransport
internal import Wire

/// OpenSSL's timer beside simulated time: set to little, and waited for when a repetition is due.
public struct SimulatedTimer: OpenSSLTimer {
  public init() {}

  // Above the 15 ms that OpenSSL takes for nothing, or each read would repeat the flight.
  package func setting(for wait: Duration) -> Duration { .milliseconds(40) }

  package func waitIsOver(left: () -> Duration) {
    // Rounded in OpenSSL, hence more than one try.
    for _ in 0..<8 {
      let left = left()
      guard left > .zero else { return }
      usleep(UInt32(clamping: left.nanoseconds / 1000))
    }
  }
}

extension OpenSSLTransports {
  /// OpenSSL and libsrtp in simulated time, with a certificate of their own.
  public static func simulated() throws -> OpenSSLTransports {
    let key = PrivateKey.generate()
    return try OpenSSLTransports(
      key: key, certificate: Certificate(key: key), timer: SimulatedTimer())
  }
}
