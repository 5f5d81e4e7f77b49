import Control
import Testing
import Wire

@Suite struct TransferTests {
  private var receiver = TransferReceiver()

  private static func picture(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

  private static func announce(_ number: UInt32, size: Int) -> TransferDocument {
    TransferDocument(transfer: number, size: size, type: "image/jpeg", width: 1, height: 1)
  }

  @Test(arguments: [1, 16 * 1024 - 5, 16 * 1024 - 4, 16 * 1024 - 3, 100_000])
  mutating func bytesArriveWhole(size: Int) throws {
    var sender = TransferSender(
      number: 0x0102_0304, bytes: Self.picture(size), type: "image/jpeg", width: 1280, height: 720)
    try receiver.begin(sender.document, now: at(0))
    var received: TransferReceiver.Received?
    var messages = 0
    while let message = sender.message {
      #expect(message.count <= 16 * 1024 && message.starts(with: [1, 2, 3, 4]))
      #expect(sender.message == message, "it stays until it was taken")
      sender.advance()
      #expect(received == nil)
      received = try receiver.receive(message, now: at(0))
      messages += 1
    }
    #expect(received?.bytes == Self.picture(size) && received?.document == sender.document)
    #expect(messages == (size + 16379) / 16380)
    #expect(receiver.nextDeadline == nil)
    sender.advance()
    #expect(sender.message == nil)
  }

  @Test mutating func twoTransfersMayInterleave() throws {
    var senders = [1, 2].map {
      TransferSender(number: $0, bytes: Self.picture(20_000), type: "image/jpeg", width: 1, height: 1)
    }
    for sender in senders { try receiver.begin(sender.document, now: at(0)) }
    var received: [UInt32] = []
    for _ in 0..<2 {
      for index in senders.indices {
        let message = try #require(senders[index].message)
        if let whole = try receiver.receive(message, now: at(0)) { received.append(whole.document.transfer) }
        senders[index].advance()
      }
    }
    #expect(received == [1, 2])
  }

  @Test mutating func whatNobodyAnnouncedIsStray() throws {
    #expect(throws: TransferError.stray) { try receiver.receive([0, 0, 0, 1, 7], now: at(0)) }
    #expect(throws: TransferError.stray) { try receiver.receive([0, 0, 1], now: at(0)) }
    try receiver.begin(Self.announce(1, size: 1), now: at(0))
    _ = try receiver.receive([0, 0, 0, 1, 7], now: at(0))
    #expect(throws: TransferError.stray) { try receiver.receive([0, 0, 0, 1, 7], now: at(0)) }
  }

  @Test mutating func sizesAndNumbersAreBounded() throws {
    for size in [-1, 0, ControlLimits.transferBytes + 1] {
      #expect(throws: TransferError.badSize(size)) { try receiver.begin(Self.announce(9, size: size), now: at(0)) }
    }
    try receiver.begin(Self.announce(1, size: ControlLimits.transferBytes), now: at(0))
    #expect(throws: TransferError.refused) { try receiver.begin(Self.announce(1, size: 5), now: at(0)) }
    for number in 2...4 { try receiver.begin(Self.announce(UInt32(number), size: 5), now: at(0)) }
    #expect(throws: TransferError.refused) { try receiver.begin(Self.announce(5, size: 5), now: at(0)) }
  }

  @Test mutating func moreThanAnnouncedEndsTheTransfer() throws {
    try receiver.begin(Self.announce(1, size: 2), now: at(0))
    #expect(throws: TransferError.tooLong) { try receiver.receive([0, 0, 0, 1, 7, 7, 7], now: at(0)) }
    #expect(throws: TransferError.stray) { try receiver.receive([0, 0, 0, 1, 7], now: at(0)) }
  }

  @Test mutating func patienceEndsAndEmptyPiecesDoNotExtendIt() throws {
    try receiver.begin(Self.announce(1, size: 2), now: at(0))
    _ = try receiver.receive([0, 0, 0, 1, 7], now: at(10))
    #expect(receiver.nextDeadline == at(25))
    _ = try receiver.receive([0, 0, 0, 1], now: at(20))
    #expect(receiver.handleTimeout(now: at(24)).isEmpty)
    #expect(receiver.handleTimeout(now: at(25)).map(\.transfer) == [1])
    #expect(receiver.nextDeadline == nil)
  }
}
