internal import NIOCore
internal import NIOPosix
internal import Wire

/// Datagrams to one address that go to the kernel in one write and are cut apart there: udp(7), UDP_SEGMENT. All are of
/// the first one's size, but the last may be shorter. A picture's packets are like that.
struct DatagramBatch {
  let address: TransportAddress
  /// Bytes of every datagram but the last.
  let segmentSize: Int
  private(set) var bytes: ByteBuffer
  private(set) var count = 1
  private var endsShort = false

  /// The kernel takes 64.
  static let maximumDatagrams = 40
  /// With the headers before them they must fit into 65,535 bytes.
  static let maximumBytes = 60_000

  init(_ datagram: [UInt8], to address: TransportAddress, allocator: ByteBufferAllocator) {
    self.address = address
    segmentSize = datagram.count
    bytes = allocator.buffer(bytes: datagram)
  }

  /// Takes another datagram behind the others, if it goes the same way and has the size for it.
  mutating func append(_ datagram: [UInt8], to address: TransportAddress) -> Bool {
    guard !endsShort, !datagram.isEmpty, datagram.count <= segmentSize, count < Self.maximumDatagrams,
      bytes.readableBytes + datagram.count <= Self.maximumBytes, address == self.address
    else { return false }
    bytes.writeBytes(datagram)
    count += 1
    endsShort = datagram.count < segmentSize
    return true
  }
}

/// Writes datagrams to a UDP channel, in batches where the kernel takes them.
///
/// Confined to its event loop; nothing leaves before `flush`.
final class DatagramWriter {
  private var pending: (batch: DatagramBatch, destination: SocketAddress)?
  private var hasWritten = false
  /// Until a batch could not be written.
  private(set) var usesBatches = System.supportsUDPSegmentationOffload

  func write(
    _ datagram: [UInt8], to address: TransportAddress, at destination: SocketAddress, through channel: any Channel
  ) {
    if usesBatches, pending?.batch.append(datagram, to: address) == true { return }
    writeBatch(through: channel)
    pending = (DatagramBatch(datagram, to: address, allocator: channel.allocator), destination)
  }

  func flush(_ channel: any Channel) {
    writeBatch(through: channel)
    guard hasWritten else { return }
    hasWritten = false
    channel.flush()
  }

  private func writeBatch(through channel: any Channel) {
    guard let (batch, destination) = pending else { return }
    pending = nil
    hasWritten = true
    guard batch.count > 1 else {
      return channel.write(AddressedEnvelope(remoteAddress: destination, data: batch.bytes), promise: nil)
    }
    let envelope = AddressedEnvelope(
      remoteAddress: destination, data: batch.bytes,
      metadata: .init(ecnState: .transportNotCapable, packetInfo: nil, segmentSize: batch.segmentSize))
    let written = channel.eventLoop.makePromise(of: Void.self)
    // The kernel does not cut for this path, perhaps: a device without checksums of its own before Linux 6.11, a path for
    // smaller datagrams, a kernel before 4.18. Whatever it was, single datagrams are sure.
    written.futureResult.assumeIsolated().whenFailure { [self] _ in usesBatches = false }
    channel.write(envelope, promise: written)
  }
}
