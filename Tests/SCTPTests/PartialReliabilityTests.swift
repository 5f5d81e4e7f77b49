import Testing
import Wire

@testable import SCTP

@Suite struct PartialReliabilityTests {
  @Test func messageIsGivenUpAfterItsRetransmissions() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel(DataChannelParameters(label: "p", reliability: .maxRetransmits(0)))
    lab.run(for: .seconds(1))
    lab.weather.loss = 1
    try lab[.client].send(.text("lost"), on: id, now: lab.now)
    lab.run(for: .milliseconds(10))
    lab.weather.loss = 0
    try lab[.client].send(.text("next"), on: id, now: lab.now)
    lab.run(for: .seconds(5))
    #expect(lab.messages(at: .server, on: id) == [.text("next")])
    let statistics = lab[.client].statistics.transport
    #expect(statistics.messagesAbandoned == 1)
    #expect(statistics.unackData == 0)
    #expect(statistics.chunksRetransmitted == 0)
  }

  @Test func messageIsGivenUpAfterItsLifetime() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel(DataChannelParameters(label: "p", reliability: .maxPacketLifeTime(milliseconds: 200)))
    lab.run(for: .seconds(1))
    lab.weather.loss = 1
    for number in 0..<30 {
      try lab[.client].send(.binary([UInt8](repeating: UInt8(number), count: 1000)), on: id, now: lab.now)
    }
    lab.run(for: .milliseconds(700))
    lab.weather.loss = 0
    try lab[.client].send(.text("fresh"), on: id, now: lab.now)
    lab.run(for: .seconds(5))
    #expect(lab.messages(at: .server, on: id) == [.text("fresh")])
    #expect(lab[.client].statistics.transport.messagesAbandoned == 30)
    #expect(lab[.client].statistics.transport.unackData == 0)
    #expect(lab[.client].bufferedAmount(of: id) == 0)
  }

  @Test func messageGivenUpHalfwayLeavesNothingBehind() throws {
    var lab = Lab.connected(Weather(latency: .milliseconds(100)))
    let id = try lab.openChannel(DataChannelParameters(label: "p", reliability: .maxPacketLifeTime(milliseconds: 150)))
    lab.run(for: .seconds(1))
    // Much more than the first window, so its time runs out while fragments still wait; nothing is lost.
    try lab[.client].send(.binary([UInt8](repeating: 1, count: 60_000)), on: id, now: lab.now)
    lab.run(for: .seconds(2))
    try lab[.client].send(.text("fresh"), on: id, now: lab.now)
    lab.run(for: .seconds(2))
    #expect(lab.messages(at: .server, on: id) == [.text("fresh")])
    #expect(lab[.server].association.receiver.reassembly.bytesHeld == 0)
    #expect(lab[.client].statistics.transport.unackData == 0)
    #expect(lab[.client].bufferedAmount(of: id) == 0)
  }

  @Test func cleanNetworkLosesNothingHoweverUnreliableTheChannels() throws {
    var lab = Lab.connected(Weather(latency: .milliseconds(50)))
    let unordered = try lab.openChannel(
      DataChannelParameters(label: "u", isOrdered: false, reliability: .maxRetransmits(0)))
    let ordered = try lab.openChannel(DataChannelParameters(label: "o", reliability: .maxRetransmits(0)))
    for number in 0..<200 {
      try lab[.client].send(.text("u\(number)"), on: unordered, now: lab.now)
      try lab[.client].send(.binary([UInt8](repeating: 0, count: 3000)), on: ordered, now: lab.now)
      if number % 20 == 0 { lab.run(for: .milliseconds(20)) }
    }
    lab.run(for: .seconds(30))
    #expect(lab.messages(at: .server, on: unordered).count == 200)
    #expect(lab.messages(at: .server, on: ordered).count == 200)
    #expect(lab[.client].statistics.transport.messagesAbandoned == 0)
  }

  @Test(arguments: 1...12) func lossyUnreliableChannelKeepsMoving(seed: UInt64) throws {
    let ordered = seed % 2 == 0
    var lab = Lab.connected(
      Weather(loss: 0.25, duplication: 0.1, jitter: .milliseconds(40)), seed: seed, initialTSN: UInt32.max - 50)
    let id = try lab.openChannel(
      DataChannelParameters(label: "p", isOrdered: ordered, reliability: .maxRetransmits(UInt32(seed % 3))))
    let reliable = try lab.openChannel()
    for number in 0..<100 {
      let size = number % 10 == 0 ? 6000 : 20
      try lab[.client].send(.binary([UInt8(number)] + [UInt8](repeating: 0, count: size)), on: id, now: lab.now)
      if number % 10 == 0 { try lab[.client].send(.text("\(number)"), on: reliable, now: lab.now) }
      lab.run(for: .milliseconds(20))
    }
    lab.run(for: .seconds(60))
    let numbers = lab.messages(at: .server, on: id).compactMap {
      if case .binary(let bytes) = $0 { bytes.first } else { nil }
    }
    #expect(numbers.count > 30)
    #expect(Set(numbers).count == numbers.count)
    if ordered { #expect(numbers == numbers.sorted()) }
    #expect(lab.messages(at: .server, on: reliable) == stride(from: 0, to: 100, by: 10).map { .text("\($0)") })
    #expect(lab[.client].statistics.transport.unackData == 0)
    #expect(lab[.server].association.receiver.reassembly.bytesHeld == 0)
    #expect(lab.isConnected)
  }
}
