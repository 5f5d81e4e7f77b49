internal import CMosquitto
internal import Glibc
internal import Signaling

/// Owns one client of libmosquitto, for one connection. Everything happens on the thread that made it: the library has to
/// read and write when its socket is ready, and its callbacks, which run within these calls, leave their news in `record`.
struct MosquittoClient: ~Copyable {
  private let handle: OpaquePointer
  let record: MosquittoRecord

  private static let library: Int32 = mosquitto_lib_init()

  private init(handle: OpaquePointer, record: MosquittoRecord) {
    self.handle = handle
    self.record = record
  }

  static func make(
    _ settings: MQTTSettings, isEncrypted: Bool, version: MQTTVersion
  ) throws(MQTTProblem) -> MosquittoClient {
    let record = MosquittoRecord()
    guard library == MOSQ_ERR_SUCCESS.code,
      let handle = mosquitto_new(settings.client, true, Unmanaged.passUnretained(record).toOpaque())
    else { throw MQTTWords.failure(MOSQ_ERR_NOMEM.code) }
    let client = MosquittoClient(handle: handle, record: record)
    try client.prepare(settings, isEncrypted: isEncrypted, version)
    return client
  }

  private func prepare(_ settings: MQTTSettings, isEncrypted: Bool, _ version: MQTTVersion) throws(MQTTProblem) {
    MosquittoRecord.listen(to: handle)
    try check(mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, version.number))
    try check(mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1))
    if let username = settings.place.username {
      try check(mosquitto_username_pw_set(handle, username, settings.place.password))
    }
    if let will = settings.will { try check(mosquitto_will_set(handle, will, 0, nil, 1, true)) }
    guard isEncrypted else { return }
    if let authorities = settings.place.authorities {
      // Reads the file.
      let result = mosquitto_tls_set(handle, authorities, nil, nil, nil, nil)
      guard result == MOSQ_ERR_SUCCESS.code else { throw .lost("\(authorities) cannot be read") }
    } else {
      try check(mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
    }
  }

  deinit { mosquitto_destroy(handle) }

  private func check(_ result: Int32) throws(MQTTProblem) {
    let error = errno
    guard result != MOSQ_ERR_SUCCESS.code else { return }
    throw MQTTWords.failure(result, errno: error, log: record.errors)
  }

  // MARK: - The connection

  /// Looks up the name, which may take long, and begins to connect.
  ///
  /// - Parameter local: the wildcard address of the only family to use; nil: the one that the system prefers.
  func connect(to server: BrokerURL, keepalive: Int32, from local: String?) throws(MQTTProblem) {
    let result = mosquitto_connect_bind_async(handle, server.host, Int32(server.port), keepalive, local)
    let error = errno
    switch result {
    case MOSQ_ERR_SUCCESS.code: break
    case MOSQ_ERR_EAI.code: throw .lost("no address for \(server.host): \(String(cString: gai_strerror(error)))")
    default: throw MQTTWords.failure(result, errno: error, log: record.errors)
    }
    // The programs that we start have no use for it, and what has not arrived after some time never will.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var patience = Self.patience
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, socklen_t(MemoryLayout<Int32>.size))
  }

  /// In milliseconds.
  private static let patience: Int32 = 20_000

  /// Negative when there is no connection.
  var descriptor: Int32 { mosquitto_socket(handle) }

  var wantsToWrite: Bool { mosquitto_want_write(handle) }

  /// To be called when the socket is readable or writable, and every few seconds.
  func work(canRead: Bool, canWrite: Bool) throws(MQTTProblem) {
    if canRead {
      let result = mosquitto_loop_read(handle, 1)
      // It asks for the memory of a whole packet when that begins, and this process has little.
      if result == MOSQ_ERR_NOMEM.code { throw .lost(InflowLimit.words) }
      try check(result)
    }
    if canWrite, descriptor >= 0 { try check(mosquitto_loop_write(handle, 1)) }
    if descriptor >= 0 { try check(mosquitto_loop_misc(handle)) }
  }

  // MARK: - Packets

  /// - Parameter wantsRetained: to be sent what is retained there. The option is one of MQTT 5, section 3.8.3.1; a broker of
  ///   3.1.1 sends it in any case.
  func subscribe(_ topics: [String], wantsRetained: Bool) throws(MQTTProblem) {
    var names = topics.map { strdup($0) }
    defer { names.forEach { free($0) } }
    let options = wantsRetained ? 0 : Int32(MQTT_SUB_OPT_SEND_RETAIN_NEVER.rawValue)
    try check(mosquitto_subscribe_multiple(handle, nil, Int32(names.count), &names, 1, options, nil))
  }

  /// - Returns: the number that its acknowledgement has; nil if it is longer than the broker allows.
  func publish(_ publication: MQTTPublication, version: MQTTVersion) throws(MQTTProblem) -> Int32? {
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    if version == .five, let expiry = publication.expirySeconds {
      try check(mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), expiry))
    }
    var number: Int32 = 0
    var text = publication.text
    let result = text.withUTF8 { bytes in
      mosquitto_publish_v5(
        handle, &number, publication.topic, Int32(bytes.count), bytes.baseAddress, 1, publication.isRetained,
        properties)
    }
    if result == MOSQ_ERR_OVERSIZE_PACKET.code { return nil }
    try check(result)
    return number
  }

  /// Says goodbye: the broker forgets the will.
  func disconnect() {
    mosquitto_disconnect_v5(handle, 0, nil)
    if descriptor >= 0 { mosquitto_loop_write(handle, 1) }
  }
}

extension mosq_err_t {
  var code: Int32 { Int32(rawValue) }
}
