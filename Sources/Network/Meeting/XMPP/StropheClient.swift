internal import CStrophe
internal import Glibc
internal import Signaling

/// Owns one connection of libstrophe. Everything happens on the thread that made it: the library runs once when its socket
/// is ready, and its callbacks, which run within that call, leave their news in `record`.
struct StropheClient: ~Copyable {
  private let context: OpaquePointer
  private let connection: OpaquePointer
  let record: StropheRecord
  /// The library keeps a pointer to it.
  private let log: UnsafeMutablePointer<xmpp_log_t>

  private static let library: Void = xmpp_initialize()

  private init(
    context: OpaquePointer, connection: OpaquePointer, record: StropheRecord, log: UnsafeMutablePointer<xmpp_log_t>
  ) {
    self.context = context
    self.connection = connection
    self.record = record
    self.log = log
  }

  static func make(_ place: XMPPPlace, resource: String) -> StropheClient {
    library
    let record = StropheRecord()
    let log = UnsafeMutablePointer<xmpp_log_t>.allocate(capacity: 1)
    log.initialize(to: record.log)
    guard let context = xmpp_ctx_new(nil, log), let connection = xmpp_conn_new(context) else {
      preconditionFailure("no memory for a connection")
    }
    let plain = XMPP_CONN_FLAG_TRUST_TLS
    let flags = (place.mayBePlain ? plain : XMPP_CONN_FLAG_MANDATORY_TLS) | XMPP_CONN_FLAG_DISABLE_SM
    xmpp_conn_set_flags(connection, Int(flags))
    xmpp_conn_set_jid(connection, place.account.at(resource))
    xmpp_conn_set_pass(connection, place.password)
    if let authorities = place.authorities { xmpp_conn_set_cafile(connection, authorities) }
    xmpp_conn_set_sockopt_callback(connection) { _, socket in
      socket.map { StropheRecord.prepare($0.load(as: Int32.self)) } ?? -1
    }
    return StropheClient(context: context, connection: connection, record: record, log: log)
  }

  deinit {
    xmpp_conn_release(connection)
    xmpp_ctx_free(context)
    log.deallocate()
    record.release()
  }

  /// Looks up the name, which may take long, and begins to connect. False: there is no way to it.
  func connect(_ place: XMPPPlace) -> Bool {
    let user = Unmanaged.passUnretained(record).toOpaque()
    StropheRecord.listen(to: connection, user)
    return record.whileConnecting {
      xmpp_connect_client(connection, place.host, place.port ?? 0, StropheRecord.changed, user) == XMPP_EOK
    }
  }

  var isConnecting: Bool { xmpp_conn_is_connecting(connection) != 0 }
  var wantsToWrite: Bool { xmpp_conn_is_connecting(connection) != 0 || xmpp_conn_send_queue_len(connection) > 0 }

  /// The library keeps whatever a server does not take.
  var hasTooMuchToSay: Bool { xmpp_conn_send_queue_len(connection) > 1024 }

  /// Reads and writes what can be read and written.
  ///
  /// The library reads 4 KiB a time, and writes what its handlers had to say the next time. A record of TLS has up to 16 KiB
  /// (RFC 8446 section 5.1), and for what is left of one the socket is not readable.
  func work() {
    for _ in 0..<6 { xmpp_run_once(context, 0) }
  }

  func send(_ stanza: XMPPStanza) {
    var bytes = Array(stanza.xml.utf8CString)
    bytes.withUnsafeMutableBufferPointer { xmpp_send_raw(connection, $0.baseAddress, $0.count - 1) }
  }

  /// Says goodbye; the server closes the connection.
  func disconnect() {
    xmpp_disconnect(connection)
  }
}
