internal import COpenSSL
internal import PeerConnection
internal import Wire

/// The BIO and retransmission timer of one `SSL`. Each read is exactly one datagram, and so is each write; OpenSSL's
/// own memory BIO would concatenate them.
final class DatagramBIO {
  /// Beyond this, a slow loop loses datagrams as with a full socket buffer, instead of using more memory.
  static let maximumQueued = 1024

  private let timer: any OpenSSLTimer
  /// The datagram to read next; empty if there is none.
  var incoming: [UInt8] = []
  private var outputs: [DTLSOutput] = []
  private var firstOutput = 0
  /// The current or last wait.
  private(set) var wait: Duration?
  /// Whether OpenSSL has set its timer since this was last cleared.
  var timerWasSet = false

  /// Time until a flight is first retransmitted; doubles each time. RFC 6347 section 4.2.4.1 recommends one second, for
  /// the open Internet of 2012; libwebrtc starts with 50 ms, because the user is waiting for a picture during the
  /// handshake.
  static let firstRetransmission: Duration = .milliseconds(50)
  /// The limit for doubling. OpenSSL itself gives up at the 13th retransmission; with 5 s that is after
  /// `DTLSConnection.giveUp`.
  private static let longestRetransmission: Duration = .seconds(5)

  init(timer: any OpenSSLTimer) {
    self.timer = timer
  }

  /// Queues an output for the owner to poll.
  func emit(_ output: DTLSOutput) {
    guard outputs.count - firstOutput < Self.maximumQueued else { return }
    outputs.append(output)
  }

  func takeOutput() -> DTLSOutput? {
    guard firstOutput < outputs.count else { return nil }
    let output = outputs[firstOutput]
    firstOutput += 1
    if firstOutput == outputs.count {
      outputs.removeAll(keepingCapacity: true)
      firstOutput = 0
    }
    return output
  }

  /// OpenSSL sets its timer: from the start, or again after expiry. Returns microseconds by OpenSSL's clock.
  private func setTimer(isRepetition: Bool) -> UInt32 {
    var next = Self.firstRetransmission
    if isRepetition, let wait { next = min(wait * 2, Self.longestRetransmission) }
    wait = next
    timerWasSet = true
    return UInt32(clamping: timer.setting(for: next).nanoseconds / 1000)
  }

  /// Creates the BIO and passes it to `ssl`, which frees it. False if out of memory.
  func attach(to ssl: OpaquePointer) -> Bool {
    guard let method = Self.method.pointer, let bio = BIO_new(method) else { return false }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    SSL_set_bio(ssl, bio, bio)
    DTLS_set_timer_cb(ssl) { ssl, previous in
      guard let bio = SSL_get_rbio(ssl), let owner = DatagramBIO.of(bio) else { return 1_000_000 }
      return owner.setTimer(isRepetition: previous != 0)
    }
    return true
  }

  private static func of(_ bio: OpaquePointer?) -> DatagramBIO? {
    BIO_get_data(bio).map { Unmanaged<DatagramBIO>.fromOpaque($0).takeUnretainedValue() }
  }

  /// One function table for the life of the process.
  private static let method = Method()

  private struct Method: @unchecked Sendable {
    // Written once here and only read by OpenSSL from then on.
    let pointer: OpaquePointer?

    init() {
      pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams")
      BIO_meth_set_write(pointer) { bio, bytes, count in
        copenssl_bio_clear_retry(bio)
        guard let owner = DatagramBIO.of(bio), let bytes, count > 0 else { return -1 }
        owner.emit(.transmit([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))))
        return count
      }
      BIO_meth_set_read(pointer) { bio, bytes, capacity in
        copenssl_bio_clear_retry(bio)
        guard let owner = DatagramBIO.of(bio), let bytes, capacity > 0, !owner.incoming.isEmpty else {
          copenssl_bio_set_retry_read(bio)
          return -1
        }
        // Like recv(2) on a datagram socket: excess bytes are discarded.
        let count = min(Int(capacity), owner.incoming.count)
        UnsafeMutableRawBufferPointer(start: bytes, count: count).copyBytes(from: owner.incoming.prefix(count))
        owner.incoming = []
        return Int32(count)
      }
      BIO_meth_set_ctrl(pointer) { _, command, _, _ in
        // Flushing always succeeds; datagrams have no end of file and the MTU is set by hand.
        command == BIO_CTRL_FLUSH ? 1 : 0
      }
    }
  }
}
