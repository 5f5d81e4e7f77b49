internal import CMosquitto

/// What libmosquitto has called back with since somebody last looked.
final class MosquittoRecord {
  enum Entry {
    /// CONNACK, with its return code (3.1.1) or reason code (5).
    case connected(Int32)
    /// SUBACK: what has become of each topic.
    case subscribed([Int32])
    case message(MQTTMessage, isRetained: Bool)
    /// A message that cannot be for us: too long, or not UTF-8.
    case unusable
    /// PUBACK, with its reason code (5) or 0.
    case acknowledged(Int32, reason: Int32)
    /// The broker has closed the connection; its reason code (5) if it sent one.
    case disconnected(Int32)
  }

  private var entries: [Entry] = []
  /// What the library logged as errors: of TLS it returns nothing else.
  private(set) var errors: [String] = []

  /// Much more than the library calls back with at once.
  private static let most = 1024
  private static let mostErrors = 4

  func take() -> [Entry] {
    defer { entries = [] }
    return entries
  }

  private func add(_ entry: Entry) {
    if entries.count < Self.most { entries.append(entry) }
  }

  private func add(error text: String) {
    if errors.count < Self.mostErrors { errors.append(text) }
  }

  /// For a client with a record as its user data, which lives longer.
  static func listen(to handle: OpaquePointer) {
    mosquitto_connect_v5_callback_set(handle) { _, record, code, _, _ in
      MosquittoRecord.of(record)?.add(.connected(code))
    }
    mosquitto_subscribe_v5_callback_set(handle) { _, record, _, count, codes, _ in
      guard count >= 0, let codes else { return }
      MosquittoRecord.of(record)?.add(.subscribed(Array(UnsafeBufferPointer(start: codes, count: Int(count)))))
    }
    mosquitto_publish_v5_callback_set(handle) { _, record, number, reason, _ in
      MosquittoRecord.of(record)?.add(.acknowledged(number, reason: reason))
    }
    mosquitto_disconnect_v5_callback_set(handle) { _, record, reason, _ in
      MosquittoRecord.of(record)?.add(.disconnected(reason))
    }
    mosquitto_message_v5_callback_set(handle) { _, record, message, _ in
      guard let message = message?.pointee, let topic = message.topic else { return }
      let count = Int(message.payloadlen)
      guard (0...MQTTMessage.maximumBytes).contains(count) else {
        MosquittoRecord.of(record)?.add(.unusable)
        return
      }
      let text = String(validating: UnsafeRawBufferPointer(start: message.payload, count: count), as: UTF8.self)
      let read = text.map { MQTTMessage(topic: String(cString: topic), text: $0) }
      if let read, read.isOfOurLength {
        MosquittoRecord.of(record)?.add(.message(read, isRetained: message.retain))
      } else {
        MosquittoRecord.of(record)?.add(.unusable)
      }
    }
    mosquitto_log_callback_set(handle) { _, record, level, text in
      guard level == MOSQ_LOG_ERR, let text else { return }
      MosquittoRecord.of(record)?.add(error: String(cString: text))
    }
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> MosquittoRecord? {
    pointer.map { Unmanaged<MosquittoRecord>.fromOpaque($0).takeUnretainedValue() }
  }
}
