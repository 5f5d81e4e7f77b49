import PeerConnection
import RTP
import RTPReceiving
import SecureTransport
import Simulation
import Testing
import Wire

extension SimulatedPair {
  /// Two ends that have found each other.
  static func connected(
    seed: UInt64 = 1, streaming: Bool = false, link: Link = Link(),
    childRandom: (any RandomNumberGenerator & Sendable)? = nil,
    configure: (Side, inout PeerConnectionConfiguration) -> Void = { _, _ in }
  ) throws -> SimulatedPair {
    let pair = SimulatedPair(seed: seed, childRandom: childRandom, configure: configure)
    try pair.connect(streaming: streaming, link: link)
    return pair
  }

  /// The same with OpenSSL and libsrtp in it.
  static func encrypted(seed: UInt64 = 1, streaming: Bool = false) throws -> SimulatedPair {
    let pair = SimulatedPair(
      seed: seed, parentSecure: try OpenSSLTransports.simulated(), childSecure: try OpenSSLTransports.simulated())
    try pair.connect(streaming: streaming, link: Link())
    return pair
  }

  private func connect(streaming: Bool, link: Link) throws {
    try exchangeDescriptions()
    try #require(run(until: { self.isConnected }, limit: .seconds(2)))
    self.link = link
    guard streaming else { return }
    camera = TestCamera()
    microphone = TestMicrophone()
    run(for: .seconds(1))
    try #require(viewer.pictures.count > 25)
  }

  /// Runs until the next picture; how long that took.
  func timeToNextPicture(limit: Duration) -> Duration? {
    let (start, before) = (now, viewer.pictures.count)
    return run(until: { viewer.pictures.count > before }, limit: limit) ? now - start : nil
  }

  var pliCount: UInt64 { parent.statistics(now: now).inboundRTP.reduce(0) { $0 + $1.pliCount } }
}

/// What a datagram is, RFC 7983 and RFC 5761.
enum DatagramKind { case stun, dtls, rtp, rtcp, unknown }

func kind(of datagram: [UInt8]) -> DatagramKind {
  switch datagram.first ?? 255 {
  case 0...3: .stun
  case 20...63: .dtls
  case 128...191: RTPDemultiplexing.isRTCP(datagram) ? .rtcp : .rtp
  default: .unknown
  }
}

extension [Duration] {
  /// Of a sorted list; `fraction` is 0...1.
  func percentile(_ fraction: Double) -> Duration {
    isEmpty ? .zero : self[Swift.min(count - 1, Int(Double(count) * fraction))]
  }
}
