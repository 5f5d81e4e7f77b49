import TestSupport
import Wire

@testable import SCTP

/// What the network between two transports does; the same each time for the same seed.
struct Weather {
  var loss = 0.0
  var duplication = 0.0
  /// Added to the latency of each packet at random, so that packets overtake each other.
  var jitter: Duration = .zero
  var latency: Duration = .milliseconds(20)
}

/// Two transports, a network and a clock that jumps from event to event.
struct Lab {
  enum End: Int, CaseIterable {
    case client
    case server

    var other: End { self == .client ? .server : .client }
  }

  private struct Flight {
    var arrival: Instant
    var order: Int
    var to: End
    var packet: [UInt8]
  }

  var ends: [DataChannelTransport]
  private(set) var outputs: [[DataChannelOutput]] = [[], []]
  private var received: [[UInt16: [DataChannelMessage]]] = [[:], [:]]
  var now = Instant.zero
  var weather: Weather
  /// Returns what arrives instead of the packet; nil loses it.
  var tamper: (@Sendable (End, [UInt8], Instant) -> [UInt8]?)?
  var packetsSent = [0, 0]
  private var random: SeededGenerator
  private var flights: [Flight] = []
  private var order = 0

  init(
    _ weather: Weather = Weather(), seed: UInt64 = 1, configuration: SCTPConfiguration = SCTPConfiguration(),
    serverConfiguration: SCTPConfiguration? = nil, initialTSN: UInt32? = nil
  ) {
    self.weather = weather
    random = SeededGenerator(seed: seed)
    ends = End.allCases.map { end in
      DataChannelTransport(
        configuration: end == .client ? configuration : serverConfiguration ?? configuration,
        isDTLSClient: end == .client, hashes: TestHashes(),
        random: SeededGenerator(seed: seed &* 7 &+ UInt64(end.rawValue)),
        initialTSN: initialTSN)
    }
  }

  subscript(end: End) -> DataChannelTransport {
    get { ends[end.rawValue] }
    set { ends[end.rawValue] = newValue }
  }

  /// Polls both ends and puts their packets on the network.
  mutating func drain() {
    for end in End.allCases {
      while let output = ends[end.rawValue].poll() {
        if case .transmit(let packet) = output {
          packetsSent[end.rawValue] += 1
          launch(packet, from: end)
        } else {
          outputs[end.rawValue].append(output)
          if case .message(let id, let message) = output {
            received[end.rawValue][id, default: []].append(message)
          }
        }
      }
    }
  }

  private mutating func launch(_ packet: [UInt8], from end: End) {
    var packet = packet
    if let tamper {
      guard let changed = tamper(end, packet, now) else { return }
      packet = changed
    }
    if Double.random(in: 0..<1, using: &random) < weather.loss { return }
    let copies = Double.random(in: 0..<1, using: &random) < weather.duplication ? 2 : 1
    for _ in 0..<copies {
      let extra = Int64.random(in: 0...max(0, weather.jitter.nanoseconds), using: &random)
      order += 1
      flights.append(
        Flight(arrival: now + weather.latency + .nanoseconds(extra), order: order, to: end.other, packet: packet))
    }
  }

  /// One event, if it comes before `limit`.
  mutating func step(before limit: Instant) -> Bool {
    drain()
    let timers = ends.compactMap(\.nextDeadline).min()
    let arrival = flights.min { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
    guard let next = [timers, arrival?.arrival].compactMap({ $0 }).min(), next <= limit else { return false }
    now = max(now, next)
    if let arrival, arrival.arrival <= next {
      flights.removeAll { $0.order == arrival.order }
      ends[arrival.to.rawValue].handle(packet: arrival.packet, now: now)
    } else {
      for index in ends.indices { ends[index].handleTimeout(now: now) }
    }
    drain()
    return true
  }

  /// Runs for a while, or until `condition`; false when it never came true.
  @discardableResult
  mutating func run(for duration: Duration, until condition: (Lab) -> Bool = { _ in false }) -> Bool {
    let limit = now + duration
    drain()
    while !condition(self) {
      guard step(before: limit) else {
        now = limit
        return condition(self)
      }
    }
    return true
  }

  /// A lab whose association is up.
  static func connected(
    _ weather: Weather = Weather(), seed: UInt64 = 1, configuration: SCTPConfiguration = SCTPConfiguration(),
    serverConfiguration: SCTPConfiguration? = nil, initialTSN: UInt32? = nil
  ) -> Lab {
    var lab = Lab(
      Weather(latency: weather.latency), seed: seed, configuration: configuration,
      serverConfiguration: serverConfiguration, initialTSN: initialTSN)
    for end in End.allCases { lab[end].connect(now: lab.now) }
    lab.run(for: .seconds(1)) { $0.isConnected }
    lab.weather = weather
    return lab
  }

  /// Opens a channel from the client and lets it become open at both ends.
  mutating func openChannel(_ parameters: DataChannelParameters = DataChannelParameters(label: "control")) throws
    -> UInt16
  {
    let id = try self[.client].open(parameters, now: now)
    run(for: .seconds(30)) { $0.isOpen(id, at: .client) && $0.isOpen(id, at: .server) }
    return id
  }

  var isConnected: Bool { ends.allSatisfy(\.isConnected) }

  func isOpen(_ id: UInt16, at end: End) -> Bool {
    self[end].channels[id]?.state == .open
  }

  func messages(at end: End, on id: UInt16) -> [DataChannelMessage] {
    received[end.rawValue][id] ?? []
  }

  /// Forgets what has come out so far.
  mutating func forgetOutputs() {
    outputs = [[], []]
    received = [[:], [:]]
  }

  func closeReason(at end: End) -> AssociationCloseReason? {
    outputs[end.rawValue].lazy.compactMap {
      if case .associationClosed(let reason) = $0 { reason } else { nil }
    }.first
  }

  func isClosed(_ id: UInt16, at end: End) -> Bool {
    outputs[end.rawValue].contains(.closed(id: id))
  }
}

/// A packet built by hand, as if a peer had sent it.
func makePacket(tag: UInt32, _ body: (inout PacketBuilder) -> Void) -> [UInt8] {
  var packet = PacketBuilder(sourcePort: 5000, destinationPort: 5000, verificationTag: tag, maximumSize: 65536)
  body(&packet)
  return packet.finish()
}
