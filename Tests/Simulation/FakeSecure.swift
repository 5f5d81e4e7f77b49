public import PeerConnection
public import Wire

/// A handshake and a cipher for behaviour tests: same borders and messages as DTLS and SRTP, no cryptography, no clock.
public struct FakeSecure: SecureTransports {
  /// Stands for the certificate's digest.
  public var certificateSHA256: [UInt8]

  public init(seed: UInt8) {
    certificateSHA256 = [UInt8](repeating: seed, count: 32)
  }

  public func makeDTLS() throws -> any DTLSPort { FakeDTLS(digest: certificateSHA256) }
  public func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort { FakeSRTP() }
}

/// Client: hello (22, 1, digest) → server: finished (22, 2, digest) → client connected, done (22, 3) → server connected.
/// Retransmits its last flight after 100 ms, doubling.
public final class FakeDTLS: DTLSPort {
  private enum State { case idle, waiting(role: DTLSRole, flight: [UInt8]?), connected(flight: [UInt8]?), over }

  private let digest: [UInt8]
  private var state: State = .idle
  private var outputs: [DTLSOutput] = []
  private var timeout: Duration = .milliseconds(100)
  public private(set) var nextDeadline: Instant?

  public init(digest: [UInt8]) {
    self.digest = digest
  }

  public func start(role: DTLSRole, now: Instant) {
    guard role == .client else {
      state = .waiting(role: .server, flight: nil)
      return
    }
    send(flight: [22, 1] + digest, now: now)
    state = .waiting(role: .client, flight: [22, 1] + digest)
  }

  public func handle(datagram: [UInt8], now: Instant) {
    switch (state, datagram.first, datagram.dropFirst().first) {
    case (.waiting(.server, nil), 22, 1):
      peer = Array(datagram.dropFirst(2))
      state = .waiting(role: .server, flight: [22, 2] + digest)
      send(flight: [22, 2] + digest, now: now)
    case (.waiting(.server, .some), 22, 3):
      connect(flight: nil)
    case (.waiting(.client, _), 22, 2):
      peer = Array(datagram.dropFirst(2))
      outputs.append(.transmit([22, 3]))
      connect(flight: [22, 3])
    case (.connected(let flight?), 22, 2):
      outputs.append(.transmit(flight))
    case (.connected, 23, _):
      outputs.append(.applicationData(Array(datagram.dropFirst())))
    case (.connected, 21, _):
      state = .over
      outputs.append(.closed)
    default:
      break
    }
  }

  private var peer: [UInt8] = []

  private func connect(flight: [UInt8]?) {
    state = .connected(flight: flight)
    nextDeadline = nil
    let keys = SRTPKeys(profile: .aeadAES128GCM, local: [], remote: [])
    outputs.append(.connected(keys: keys, peerCertificateSHA256: peer))
  }

  private func send(flight: [UInt8], now: Instant) {
    outputs.append(.transmit(flight))
    nextDeadline = now + timeout
  }

  public func handleTimeout(now: Instant) {
    guard let deadline = nextDeadline, deadline <= now, case .waiting(_, let flight?) = state else { return }
    timeout = timeout * 2
    send(flight: flight, now: now)
  }

  public func send(_ message: [UInt8]) {
    guard case .connected = state else { return }
    outputs.append(.transmit([23] + message))
  }

  public func close() {
    guard case .connected = state else { return }
    outputs.append(.transmit([21, 0]))
    state = .over
  }

  public func poll() -> DTLSOutput? {
    outputs.isEmpty ? nil : outputs.removeFirst()
  }
}

/// Appends a four-byte tag, and refuses packets without it.
public final class FakeSRTP: SRTPPort {
  /// What a protected packet ends with.
  public static let tag: [UInt8] = [0xca, 0xfe, 0xba, 0xbe]

  public init() {}

  public func protectRTP(_ packet: inout [UInt8]) { packet += Self.tag }
  public func protectRTCP(_ packet: inout [UInt8]) { packet += Self.tag }

  public func unprotectRTP(_ packet: inout [UInt8]) throws(SRTPError) {
    guard packet.suffix(4) == Self.tag[...] else { throw .authenticationFailed }
    packet.removeLast(4)
  }

  public func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
    try unprotectRTP(&packet)
  }
}
