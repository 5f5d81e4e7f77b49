import COpenSSL
import PeerConnection
import Simulation
import TestSupport
import Wire

@testable import SecureTransport

/// A client and a server over a lossy network in simulated time.
final class DTLSPair {
  struct Side {
    let connection: any DTLSPort
    let certificateSHA256: [UInt8]
    var keys: SRTPKeys?
    var peerSHA256: [UInt8]?
    var messages: [[UInt8]] = []
    var isClosed = false
    var failure: String?
    var sent: [[UInt8]] = []
  }

  /// What becomes of one datagram: the delays of its copies; none is a loss.
  typealias Fate = (_ fromClient: Bool, _ index: Int, _ datagram: [UInt8]) -> [Duration]

  var client: Side
  var server: Side
  var now = Instant.zero
  var fate: Fate = { _, _, _ in [.milliseconds(5)] }
  private var flying: [(at: Instant, order: Int, toServer: Bool, datagram: [UInt8])] = []
  private var order = 0

  init(client: OpenSSLTransports = .test(), server: OpenSSLTransports = .test()) throws {
    self.client = Side(connection: try client.makeDTLS(), certificateSHA256: client.certificateSHA256)
    self.server = Side(connection: try server.makeDTLS(), certificateSHA256: server.certificateSHA256)
  }

  func start() {
    server.connection.start(role: .server, now: now)
    client.connection.start(role: .client, now: now)
    collect()
  }

  /// Runs until nothing flies and no timer runs, or `duration` has passed.
  func run(for duration: Duration = .seconds(60)) {
    let end = now + duration
    collect()
    while true {
      let timers = [client.connection.nextDeadline, server.connection.nextDeadline].compactMap { $0 }
      guard let next = (flying.map(\.at) + timers).min(), next <= end else { return }
      now = max(now, next)
      flying.sort { ($0.at, $0.order) < ($1.at, $1.order) }
      if let first = flying.first, first.at <= now {
        flying.removeFirst()
        (first.toServer ? server : client).connection.handle(datagram: first.datagram, now: now)
      } else {
        client.connection.handleTimeout(now: now)
        server.connection.handleTimeout(now: now)
      }
      collect()
    }
  }

  func connect() {
    start()
    run()
  }

  private func collect() {
    drain(&client, toServer: true)
    drain(&server, toServer: false)
  }

  private func drain(_ side: inout Side, toServer: Bool) {
    while let output = side.connection.poll() {
      switch output {
      case .transmit(let datagram):
        for delay in fate(toServer, side.sent.count, datagram) {
          flying.append((now + delay, order, toServer, datagram))
          order += 1
        }
        side.sent.append(datagram)
      case .connected(let keys, let digest): (side.keys, side.peerSHA256) = (keys, digest)
      case .applicationData(let message): side.messages.append(message)
      case .closed: side.isClosed = true
      case .failed(let reason): side.failure = reason
      }
    }
  }
}

extension OpenSSLTransports {
  private static let key = PrivateKey.generate()

  /// Transports of a certificate of their own; what is not named is as shipped.
  static func test(
    cipherSuites: [String] = DTLSContext.cipherSuites, srtpProfiles: [String] = DTLSContext.srtpProfiles,
    version: Int32 = DTLS1_2_VERSION, presentsCertificate: Bool = true, names: [String] = ["localhost"],
    timer: any OpenSSLTimer = SimulatedTimer()
  ) -> OpenSSLTransports {
    do {
      let certificate = try Certificate(key: key, names: names)
      let context = try DTLSContext(
        key: key, certificate: certificate, cipherSuites: cipherSuites, srtpProfiles: srtpProfiles,
        version: version, presentsCertificate: presentsCertificate)
      return OpenSSLTransports(
        context: context, sha256: certificate.sha256, timer: timer)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
