import Glibc
import NIOCore
import Testing
import Wire

@testable import Server

/// What the writer does with a kernel that refuses or is full.
@Suite struct DatagramWriterTests {
  private final class FakeSocket: DatagramSocket {
    struct Write: Equatable {
      var port: Int
      var size: Int
      var segmentSize: Int
    }

    var writes: [Write] = []
    /// Ports that take no batches.
    var withoutBatches: Set<Int> = []
    /// Ports that take nothing.
    var refused: Set<Int> = []
    /// Writes until the buffer is full.
    var room = Int.max

    func send(_ bytes: ArraySlice<UInt8>, to destination: SocketAddress, segmentSize: Int) -> DatagramWriteResult {
      let port = destination.port ?? 0
      guard room > 0 else { return .bufferFull }
      if refused.contains(port) { return .refused(errno: ENETUNREACH) }
      if segmentSize > 0, withoutBatches.contains(port) { return .refused(errno: EIO) }
      room -= 1
      writes.append(Write(port: port, size: bytes.count, segmentSize: segmentSize))
      return .written
    }

    func take() -> [Write] {
      defer { writes = [] }
      return writes
    }
  }

  private let socket = FakeSocket()
  private let writer = DatagramWriter(usesBatches: true)

  /// Datagrams of these sizes to one port.
  private func write(_ sizes: [Int], to port: UInt16) throws {
    let address = TransportAddress(ip: .v4(0x0a00_0001), port: port)
    let destination = try #require(SocketAddress(address, forIPv6Socket: false))
    for size in sizes {
      writer.write([UInt8](repeating: 0, count: size), to: address, at: destination, through: socket)
    }
  }

  private func flushed() -> [FakeSocket.Write] {
    writer.flush(through: socket)
    return socket.take()
  }

  @Test func aPathWithoutBatchesKeepsThemForTheOthers() throws {
    socket.withoutBatches = [1]
    try write([100, 100, 50], to: 1)
    try write([100, 100], to: 2)
    #expect(
      flushed() == [
        .init(port: 1, size: 100, segmentSize: 0), .init(port: 1, size: 100, segmentSize: 0),
        .init(port: 1, size: 50, segmentSize: 0), .init(port: 2, size: 200, segmentSize: 100),
      ])
    #expect(writer.addressesWithoutBatches.map(\.port) == [1] && writer.lostDatagrams == 0)
    // It is not asked again.
    socket.withoutBatches = []
    try write([100, 100], to: 1)
    #expect(flushed().map(\.segmentSize) == [0, 0])
  }

  /// An error that has nothing to do with batches does not end them.
  @Test func aDestinationThatTakesNothingIsItsOwnLoss() throws {
    socket.refused = [1]
    try write([100, 100, 100], to: 1)
    try write([70], to: 2)
    #expect(flushed() == [.init(port: 2, size: 70, segmentSize: 0)])
    #expect(writer.addressesWithoutBatches.isEmpty && writer.lostDatagrams == 3 && !writer.isWaiting)
    socket.refused = []
    try write([100, 100, 100], to: 1)
    #expect(flushed() == [.init(port: 1, size: 300, segmentSize: 100)])
  }

  @Test func addressesWithoutBatchesAreBounded() throws {
    let ports = (1...UInt16(DatagramWriter.maximumAddressesWithoutBatches + 3))
    socket.withoutBatches = Set(ports.map(Int.init))
    for port in ports { try write([10, 10], to: port) }
    _ = flushed()
    #expect(writer.addressesWithoutBatches.map(\.port) == Array(ports.dropFirst(3)))
  }

  @Test func whatFindsTheBufferFullIsSentLaterInOrder() throws {
    socket.withoutBatches = [1]
    socket.room = 2
    try write([100, 100, 100, 50], to: 1)
    try write([70], to: 2)
    #expect(flushed().map(\.size) == [100, 100] && writer.isWaiting)
    try write([60], to: 3)
    #expect(flushed().isEmpty)
    socket.room = .max
    #expect(flushed().map(\.size) == [100, 50, 70, 60])
    #expect(!writer.isWaiting && writer.lostDatagrams == 0)
  }

  @Test func theWaitingDatagramsAreBounded() throws {
    socket.room = 0
    let fitting = DatagramWriter.maximumWaitingBytes / 1000
    try write(Array(repeating: 1000, count: fitting + 500), to: 1)
    #expect(flushed().isEmpty)
    #expect(writer.lostDatagrams >= 460)
    socket.room = .max
    let sent = flushed().reduce(0) { $0 + $1.size } / 1000
    #expect(sent + Int(writer.lostDatagrams) == fitting + 500 && sent > fitting - 60)
    writer.flush(through: socket)
    try write([1000], to: 1)
    #expect(flushed().map(\.size) == [1000])
  }
}
