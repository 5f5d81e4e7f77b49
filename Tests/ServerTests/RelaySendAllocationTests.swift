import AllocationCounter
import SecureTransport
import TURN
import TestSupport
import Testing
import Wire

/// What a relayed datagram asks of the allocator within the TURN client, in both directions.
@Suite struct RelaySendAllocationTests {
  @Test func aDatagramCostsItsOwnBytesAndLittleMore() throws {
    let peer = TransportAddress(ip: .v4(0xc633_6401), port: 9)
    var client = try RelayLab.boundClient(to: peer)
    #expect(client.hasChannel(to: peer))
    let payload = [UInt8](repeating: 7, count: 1100)
    let channelData: [UInt8] = [0x40, 0, 0x04, 0x4c] + payload
    func count(_ body: () -> Void) -> (all: Double, large: Double) {
      // The queue's storage is kept from then on.
      for _ in 0..<100 { body() }
      let before = (allocation_counter_of_this_thread(), allocation_counter_large_of_this_thread())
      for _ in 0..<100 { body() }
      return (
        Double(allocation_counter_of_this_thread() - before.0) / 100,
        Double(allocation_counter_large_of_this_thread() - before.1) / 100
      )
    }
    let now = Instant.zero + .seconds(2)
    let sending = count {
      client.send(payload, to: peer, now: now)
      while client.poll() != nil {}
    }
    let receiving = count {
      client.handle(channelData, now: now)
      while client.poll() != nil {}
    }
    // One each, for the datagram itself.
    #expect(sending.large <= 1 && receiving.large <= 1, "\(sending) \(receiving)")
    // Without optimization the standard library allocates for slices, too; Swift 6.2's once more.
    #expect(sending.all <= 2 && receiving.all <= 4, "\(sending) \(receiving)")
  }
}
