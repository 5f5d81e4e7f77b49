internal import CStrophe
internal import Glibc
internal import Wire

/// What libstrophe has called back with since somebody last looked.
package final class StropheRecord {
  enum Entry {
    case connected
    /// errno or the TLS library's, and what the server said.
    case disconnected(Int32, String?)
    case stanza(XMPPIncoming)
  }

  private var entries: [Entry] = []
  /// The library says in its log alone why it gives up.
  private(set) var passwordIsRefused = false
  private(set) var certificateProblem: String?
  private(set) var tlsHasFailed = false
  /// The library sends an error then, and waits for the server to close the stream.
  private(set) var isMalformed = false
  private(set) var lastError: String?
  /// errno of connect(2).
  private(set) var connectError: Int32 = 0
  /// Of the connection, as a copy: the library's own one is not to be known.
  private(set) var descriptor: Int32 = -1

  private var isStanzaComplete = false

  private static let most = 1024

  func take() -> [Entry] {
    defer { entries = [] }
    return entries
  }

  /// Whether a stanza was complete since somebody last asked, for us or not.
  func takeStanzaIsComplete() -> Bool {
    defer { isStanzaComplete = false }
    return isStanzaComplete
  }

  private func add(_ entry: Entry) {
    if entries.count < Self.most { entries.append(entry) }
  }

  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  // MARK: - The socket

  /// The record of the thread that is connecting: the callback for sockets has no user data.
  @TaskLocal private static var current: Holder?

  private struct Holder: @unchecked Sendable {
    let record: StropheRecord
  }

  func whileConnecting<Result>(_ body: () -> Result) -> Result {
    Self.$current.withValue(Holder(record: self)) { body() }
  }

  /// In seconds. Two packets in two minutes, as at other meeting places.
  private static let keepalive: Int32 = 120
  /// In milliseconds.
  private static let patience: Int32 = 20_000

  /// - Returns: 0, or -1: it cannot be used.
  static func prepare(_ socket: Int32) -> Int32 {
    // The library uses select(2).
    guard socket >= 0, socket < 1024, let record = current?.record else { return -1 }
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    let options: [(Int32, Int32, Int32)] = [
      (SOL_SOCKET, SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, keepalive),
      (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10), (Int32(IPPROTO_TCP), TCP_KEEPCNT, 2),
      (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, patience), (Int32(IPPROTO_TCP), TCP_NODELAY, 1),
    ]
    for (level, name, number) in options {
      var number = number
      setsockopt(socket, level, name, &number, socklen_t(MemoryLayout<Int32>.size))
    }
    record.release()
    record.descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    return 0
  }

  // MARK: - Callbacks

  /// A log for a context. The record has to live longer.
  var log: xmpp_log_t {
    xmpp_log_t(
      handler: { record, level, _, text in
        guard let record, let text else { return }
        StropheRecord.of(record).logged(level, String(cString: text))
      }, userdata: Unmanaged.passUnretained(self).toOpaque())
  }

  private func logged(_ level: xmpp_log_level_t, _ text: String) {
    if text.hasPrefix("SASL "), text.hasSuffix(" auth failed") { passwordIsRefused = true }
    if text.hasPrefix("Certificate verification FAILED, result=") {
      certificateProblem = String(text.dropFirst("Certificate verification FAILED, result=".count).prefix { $0 != "(" })
    }
    if text.hasPrefix("Couldn't start TLS!") { tlsHasFailed = true }
    if text.hasPrefix("parse error [") { isMalformed = true }
    let failed = "connection failed, error "
    if text.hasPrefix(failed) { connectError = Int32(text.dropFirst(failed.count)) ?? 0 }
    if level == XMPP_LEVEL_ERROR { lastError = text }
  }

  static let changed: xmpp_conn_handler = { _, event, error, problem, record in
    guard let record else { return }
    switch event {
    case XMPP_CONN_CONNECT: of(record).add(.connected)
    case XMPP_CONN_RAW_CONNECT: break
    default: of(record).add(.disconnected(error, problem.map { words($0.pointee) }))
    }
  }

  /// RFC 6120 section 4.9.3.
  private static func words(_ problem: xmpp_stream_error_t) -> String {
    switch problem.type {
    case XMPP_SE_CONFLICT: return "another connection has the same resource"
    case XMPP_SE_HOST_UNKNOWN: return "it does not know this domain"
    case XMPP_SE_SYSTEM_SHUTDOWN: return "it is being shut down"
    case XMPP_SE_POLICY_VIOLATION: return "it refuses what we do"
    default:
      let text = problem.text.map { String(cString: $0).printable() } ?? ""
      return text.isEmpty ? "it has ended the connection" : "it has ended the connection, in its own words: “\(text)”"
    }
  }

  static func listen(to connection: OpaquePointer, _ record: UnsafeMutableRawPointer) {
    // One for all kinds: the library takes the same function once.
    xmpp_handler_add(
      connection,
      { _, stanza, record in
        guard let stanza, let record else { return 1 }
        StropheRecord.of(record).isStanzaComplete = true
        if let incoming = StropheRecord.read(stanza) { StropheRecord.of(record).add(.stanza(incoming)) }
        return 1
      }, nil, nil, nil, record)
  }

  private static func of(_ pointer: UnsafeMutableRawPointer) -> StropheRecord {
    Unmanaged<StropheRecord>.fromOpaque(pointer).takeUnretainedValue()
  }

  // MARK: - Stanzas

  /// Nil for what is not for us.
  package static func read(_ stanza: OpaquePointer) -> XMPPIncoming? {
    guard let name = text(xmpp_stanza_get_name(stanza)), let from = text(xmpp_stanza_get_from(stanza)) else {
      return nil
    }
    let type = text(xmpp_stanza_get_type(stanza)) ?? ""
    let id = text(xmpp_stanza_get_id(stanza)) ?? ""
    let child = xmpp_stanza_get_child_by_name_and_ns(stanza, "child", XMPPStanza.namespace)
    let kind: XMPPIncoming.Kind
    switch (name, type) {
    case ("message", "error"): kind = .bounced
    case ("message", _):
      guard let room = xmpp_stanza_get_child_by_name_and_ns(stanza, "room", XMPPStanza.namespace),
        let content = content(room, maximum: XMPPIncoming.longestMessage)
      else { return nil }
      kind = text(xmpp_stanza_get_type(room)) == "refused" ? .refusal(content) : .message(content)
    case ("presence", ""):
      guard let child, let statement = content(child, maximum: XMPPIncoming.longestStatement) else { return nil }
      kind = .presence(statement)
    case ("presence", "unavailable"): kind = .presence(nil)
    case ("iq", "get"): kind = child == nil ? .unknown : .question
    case ("iq", "set"): kind = .unknown
    case ("iq", "result"): kind = .answer(child.flatMap { content($0, maximum: XMPPIncoming.longestStatement) })
    case ("iq", "error"): kind = .answer(nil)
    default: return nil
    }
    let incoming = XMPPIncoming(kind: kind, from: from, id: id)
    return incoming.isOfOurLength ? incoming : nil
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    pointer.map { String(cString: $0) }
  }

  /// Nil if it is empty or too long. expat has checked that it is UTF-8.
  private static func content(_ element: OpaquePointer, maximum: Int) -> String? {
    guard let bytes = xmpp_stanza_get_text(element) else { return nil }
    defer { xmpp_free(xmpp_stanza_get_context(element), bytes) }
    let count = strlen(bytes)
    return count > 0 && count <= maximum ? String(cString: bytes) : nil
  }
}
