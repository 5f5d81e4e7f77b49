internal import NIOCore
internal import Wire

/// Datagrams to one address, passed to the kernel in one system call and segmented there: udp(7), UDP_SEGMENT. All have
/// the size of the first; the last may be shorter. The packets of one picture meet this condition.
///
/// Saves processor time: ten datagrams of 1150 bytes over loopback took 12 µs in one write and 42 to 54 µs in ten
/// (Linux 6.18, x86-64 virtual machine). `PeerHub.FastPaths` can switch it off.
struct DatagramBatch {
  let address: TransportAddress
  /// The same address in the socket's form.
  let destination: SocketAddress
  /// Size of every datagram except the last.
  let segmentSize: Int
  private var bytes: [UInt8]
  /// Bytes that have been sent or given up.
  private var start = 0
  private var endsShort = false
  private(set) var count = 1

  /// The kernel's limit is 64.
  static let maximumDatagrams = 40
  /// Together with their headers they must fit into 65,535 bytes.
  static let maximumBytes = 60_000

  init(_ datagram: [UInt8], to address: TransportAddress, at destination: SocketAddress) {
    self.address = address
    self.destination = destination
    segmentSize = datagram.count
    bytes = datagram
  }

  /// Appends a datagram if its address and size fit.
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

  /// The bytes not sent yet.
  var remaining: ArraySlice<UInt8> { bytes[start...] }

  /// The first datagram not sent yet.
  var first: ArraySlice<UInt8> { bytes[start..<min(bytes.count, start + segmentSize)] }

  mutating func removeFirst() {
    start += first.count
    count -= 1
  }
}

/// The outcome of a write to a UDP socket.
enum DatagramWriteResult: Hashable, Sendable {
  case written
  /// The socket's send buffer is full; try again soon.
  case bufferFull
  /// The kernel refused this write with this errno; other destinations may still work.
  case refused(errno: Int32)
}

/// A UDP socket as the writer needs it.
protocol DatagramSocket: AnyObject {
  /// - Parameter segmentSize: 0 for a single datagram, else the kernel cuts `bytes` into datagrams of this size.
  func send(_ bytes: ArraySlice<UInt8>, to destination: SocketAddress, segmentSize: Int) -> DatagramWriteResult
}

/// Writes datagrams to a UDP socket, in batches where the kernel supports them.
///
/// An error only affects its destination: the datagram is lost, as on any network, and everything else continues. NIO
/// would close the socket for all peers (EACCES for a broadcast address, ENETUNREACH without a route), so this bypasses
/// NIO's channel. Confined to its event loop; call `flush` after the last write.
final class DatagramWriter {
  private let usesBatches: Bool
  private var batch: DatagramBatch?
  /// Batches that found the send buffer full, in order.
  private var waiting: [DatagramBatch] = []
  private var waitingBytes = 0
  /// Addresses to which batches fail, oldest first: the device has no checksum offload (before Linux 6.11), or the
  /// path's MTU is smaller.
  private(set) var addressesWithoutBatches: [TransportAddress] = []
  /// Datagrams that the kernel refused, or that exceeded the limit of waiting bytes.
  private(set) var lostDatagrams: UInt64 = 0

  /// As much as the send buffer itself holds.
  static let maximumWaitingBytes = 1 << 19
  /// More than the addresses that viewers use; beyond it, the cost is one failed write.
  static let maximumAddressesWithoutBatches = 64

  /// - Parameter usesBatches: false: one write for each datagram.
  init(usesBatches: Bool) {
    self.usesBatches = usesBatches
  }

  /// Whether datagrams are waiting for room in the send buffer: call `flush` again soon.
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

  /// Discards waiting datagrams when the socket is gone.
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
      // Whatever the reason, single datagrams are the smallest unit to fall back to.
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
