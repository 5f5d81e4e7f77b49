import Testing

@testable import SecureTransport

@Suite struct DTLSRecordFilterTests {
  private let filter = DTLSRecordFilter(overhead: 24)

  private func record(type: UInt8, epoch: UInt8, length: Int) -> [UInt8] {
    [type, 254, 253, 0, epoch, 0, 0, 0, 0, 0, 1, UInt8(length >> 8), UInt8(length & 255)]
      + [UInt8](repeating: 7, count: length)
  }

  @Test func protectedRecordsPass() {
    let datagram = record(type: 23, epoch: 1, length: 24) + record(type: 21, epoch: 1, length: 26)
    #expect(filter.admit(datagram) == datagram)
  }

  @Test(arguments: [20, 22] as [UInt8])
  func theHandshakesClearTextPasses(type: UInt8) {
    let datagram = record(type: type, epoch: 0, length: 1)
    #expect(filter.admit(datagram) == datagram)
  }

  @Test(arguments: [21, 23, 24] as [UInt8])
  func otherClearTextIsTakenOutFromBetween(type: UInt8) {
    let good = record(type: 23, epoch: 1, length: 30)
    #expect(filter.admit(good + record(type: type, epoch: 0, length: 2) + good) == good + good)
  }

  @Test func recordsShorterThanTheCipherMakesThemAreTakenOut() {
    #expect(filter.admit(record(type: 23, epoch: 1, length: 23)).isEmpty)
  }

  @Test func whatIsCutOffIsLeftToTheLibrary() {
    let cut = Array(record(type: 23, epoch: 1, length: 40).dropLast())
    #expect(filter.admit(cut) == cut)
    #expect(filter.admit([]).isEmpty)
  }
}
