internal import NIOCore
internal import Wire

/// Datagrams to one address that go to the kernel in one system call and are cut apart there: udp(7), UDP_SEGMENT. All
/// have the size of the first; the last may be shorter. The packets of one picture are like that.
///
/// It earns processor time: ten datagrams of 1150 bytes over loopback took 12 µs in one write and 42 to 54 µs in ten
/// (Linux 6.18, x86-64 virtual machine). `PeerHub.FastPaths` switches it off.
struct DatagramBatch {
  let address: TransportAddress
  /// The same address, as the socket takes it.
  let destination: SocketAddress
  /// Bytes of every datagram but the last.
  let segmentSize: Int
  private var bytes: [UInt8]
  /// Bytes that have been sent or given up.
  private var start = 0
  private var endsShort = false
  private(set) var count = 1

  /// The kernel takes 64.
  static let maximumDatagrams = 40
  /// With the headers in front they must fit into 65,535 bytes.
  static let maximumBytes = 60_000

  init(_ datagram: [UInt8], to address: TransportAddress, at destination: SocketAddress) {
    self.address = address
    self.destination = destination
    segmentSize = datagram.count
    bytes = datagram
  }

  /// Adds a datagram at the end, if it has the same address and a size that fits.
  mutating func append(_ datagram: [UInt8], to address: TransportAddress) -> Bool {
    guard !endsShort, !datagram.isEmpty, datagram.count <= segmentSize, count < Self.maximumDatagrams,
      bytes.count + datagram.count <= Self.maximumBytes, address == self.address
    else { return false }
    if count == 1 { bytes.reserveCapacity(min(Self.maximumBytes, 12 * segmentSize)) }
    bytes.append(contentsOf: datagram)
    count += 1
    endsShort = datagram.count < segmentSize
    return true
  }

  /// What is left of it.
  var remaining: ArraySlice<UInt8> { bytes[start...] }

  /// The first datagram that is left.
  var first: ArraySlice<UInt8> { bytes[start..<min(bytes.count, start + segmentSize)] }

  mutating func removeFirst() {
    start += first.count
    count -= 1
  }
}

/// What became of a write to a UDP socket.
enum DatagramWriteResult: Hashable, Sendable {
  case written
  /// The socket's send buffer is full; try again soon.
  case bufferFull
  /// The kernel refuses this write, with this errno; it says nothing about other destinations.
  case refused(errno: Int32)
}

/// A UDP socket as the writer needs it.
protocol DatagramSocket: AnyObject {
  /// - Parameter segmentSize: 0 for a single datagram, else the kernel cuts `bytes` into datagrams of this size.
  func send(_ bytes: ArraySlice<UInt8>, to destination: SocketAddress, segmentSize: Int) -> DatagramWriteResult
}

/// Writes datagrams to a UDP socket, in batches where the kernel takes them.
///
/// An error belongs to the destination it occurred with: what is written there is lost, as on any network, and everything
/// else goes on. NIO would close the socket for everybody (EACCES for a broadcast address, ENETUNREACH without a route),
/// which is why this writes past its channel. Confined to its event loop; call `flush` when nothing more comes.
final class DatagramWriter {
  private let usesBatches: Bool
  private var batch: DatagramBatch?
  /// Found the send buffer full, in order.
  private var waiting: [DatagramBatch] = []
  private var waitingBytes = 0
  /// Addresses to which no batch can be sent, the oldest first: a device without checksums of its own before Linux 6.11,
  /// or a path for smaller packets.
  private(set) var addressesWithoutBatches: [TransportAddress] = []
  /// Datagrams that the kernel refused, or that found too much waiting.
  private(set) var lostDatagrams: UInt64 = 0

  /// As much as the send buffer takes itself.
  static let maximumWaitingBytes = 1 << 19
  /// More than viewers have addresses in use; beyond it one failed write is the price.
  static let maximumAddressesWithoutBatches = 64

  /// - Parameter usesBatches: false: one write for each datagram.
  init(usesBatches: Bool) {
    self.usesBatches = usesBatches
  }

  /// Whether datagrams wait for room in the send buffer: call `flush` again soon.
  var isWaiting: Bool { !waiting.isEmpty }

  func write(
    _ datagram: [UInt8], to address: TransportAddress, at destination: SocketAddress, through socket: any DatagramSocket
  ) {
    if usesBatches, batch?.append(datagram, to: address) == true { return }
    writeBatch(through: socket)
    batch = DatagramBatch(datagram, to: address, at: destination)
  }

  func flush(through socket: any DatagramSocket) {
    if isWaiting { writeWaiting(through: socket) }
    writeBatch(through: socket)
  }

  /// Forgets what waits, when the socket is gone.
  func discard() {
    batch = nil
    waiting = []
    waitingBytes = 0
  }

  private func writeWaiting(through socket: any DatagramSocket) {
    var done = 0
    for index in waiting.indices {
      let before = waiting[index].remaining.count
      let isDone = send(&waiting[index], through: socket)
      waitingBytes -= isDone ? before : before - waiting[index].remaining.count
      guard isDone else { break }
      done += 1
    }
    waiting.removeFirst(done)
  }

  private func writeBatch(through socket: any DatagramSocket) {
    guard var batch = self.batch else { return }
    self.batch = nil
    if !isWaiting, send(&batch, through: socket) { return }
    guard waitingBytes + batch.remaining.count <= Self.maximumWaitingBytes else {
      lostDatagrams &+= UInt64(batch.count)
      return
    }
    waitingBytes += batch.remaining.count
    waiting.append(batch)
  }

  /// Sends what is left of a batch. False when the send buffer is full; then some may be left.
  private func send(_ batch: inout DatagramBatch, through socket: any DatagramSocket) -> Bool {
    var isRefused = false
    if batch.count > 1, !addressesWithoutBatches.contains(batch.address) {
      switch socket.send(batch.remaining, to: batch.destination, segmentSize: batch.segmentSize) {
      case .written: return true
      case .bufferFull: return false
      // Whatever it was, single datagrams are the smallest that can be asked for.
      case .refused: isRefused = true
      }
    }
    while batch.count > 0 {
      switch socket.send(batch.first, to: batch.destination, segmentSize: 0) {
      case .written:
        if isRefused { avoidBatches(to: batch.address) }
        isRefused = false
      case .bufferFull:
        return false
      case .refused:
        lostDatagrams &+= 1
      }
      batch.removeFirst()
    }
    return true
  }

  private func avoidBatches(to address: TransportAddress) {
    if addressesWithoutBatches.count >= Self.maximumAddressesWithoutBatches { addressesWithoutBatches.removeFirst() }
    addressesWithoutBatches.append(address)
  }
}
