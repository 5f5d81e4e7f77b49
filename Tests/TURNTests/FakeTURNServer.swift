import STUN
import TestSupport
import Wire

/// A TURN server for one client, in fake time: strict about credentials, nonces and every lifetime. RFC 8656.
struct FakeTURNServer {
  static let address = TransportAddress(ip: .v4(0xc000_020f), port: 3478)
  static let client = TransportAddress(ip: .v4(0xc000_0201), port: 7000)

  var realm = "example.org"
  var users = ["alice": "secret"]
  var nonceLifetime: Duration = .seconds(3600)
  var lifetime: Duration = .seconds(600)
  var relayed = TransportAddress(ip: .v4(0xc000_020f), port: 50_000)
  /// Errors carry no integrity, as with some servers.
  var signsErrors = true
  var isStream = false
  /// Code of the answer to every authenticated request of a method.
  var refusals: [STUNMethod: Int] = [:]
  var forbidden: Set<IPAddress> = []
  var alternate: TransportAddress?
  /// Changes each answer before it is sent.
  var tamper: (STUNMessage) -> STUNMessage? = { $0 }
  /// The key of integrity; nil: the right one.
  var falseKey: [UInt8]?

  private(set) var allocationExpiry: Instant?
  private(set) var permissions: [IPAddress: Instant] = [:]
  private(set) var channels: [UInt16: (peer: TransportAddress, expiry: Instant)] = [:]
  private var nonce: (bytes: [UInt8], expiry: Instant)?
  private var nonceCount = 0
  /// What peers have got.
  private(set) var delivered: [(payload: [UInt8], to: TransportAddress, byChannel: Bool)] = []
  /// What was wrong with what the client sent.
  private(set) var complaints: [String] = []
  private(set) var requests: [STUNMethod: Int] = [:]
  private(set) var staleNonces = 0
  private(set) var keepalives = 0
  /// The largest message from the client.
  private(set) var largest = 0
  private let hashes = TestHashes()

  func isAllocated(at now: Instant) -> Bool { allocationExpiry.map { $0 > now } ?? false }

  /// The answers to a message.
  mutating func handle(_ bytes: [UInt8], now: Instant) -> [[UInt8]] {
    largest = max(largest, bytes.count)
    if bytes[0] >> 6 == 1 {
      receiveChannelData(bytes, now: now)
      return []
    }
    guard let message = try? STUNMessage(decoding: bytes) else {
      complaints.append("not STUN")
      return []
    }
    guard message.messageClass == .request else {
      receiveIndication(message, now: now)
      return []
    }
    requests[message.method, default: 0] += 1
    let (answer, key) = answer(message, now: now)
    guard let tampered = tamper(answer) else { return [] }
    return [tampered.encode(key: key.map { falseKey ?? $0 }, fingerprint: false, hashes: hashes)]
  }

  private mutating func answer(_ message: STUNMessage, now: Instant) -> (STUNMessage, key: [UInt8]?) {
    if let alternate {
      var answer = message.errorResponse(code: 300, reason: "Try Alternate")
      answer.attributes.append(.alternateServer(alternate))
      return (answer, nil)
    }
    guard let name = message.username, message.integrity != nil else { return (challenge(message, 401, now), nil) }
    guard let nonce, message.nonce == nonce.bytes, nonce.expiry > now else {
      staleNonces += 1
      return (challenge(message, 438, now), nil)
    }
    guard let password = users[name], message.realm == realm else { return (challenge(message, 401, now), nil) }
    let key = stunLongTermKey(username: name, realm: realm, password: password, hashes: hashes)
    guard message.verifyIntegrity(key: key, hashes: hashes) else { return (challenge(message, 401, now), nil) }
    let answer = authenticated(message, now: now)
    return (answer, answer.messageClass == .successResponse || signsErrors ? key : nil)
  }

  private mutating func challenge(_ request: STUNMessage, _ code: Int, _ now: Instant) -> STUNMessage {
    if nonce.map({ $0.expiry <= now }) ?? true {
      nonceCount += 1
      nonce = (Array("nonce \(nonceCount)".utf8), now + nonceLifetime)
    }
    var answer = request.errorResponse(code: code, reason: code == 438 ? "Stale Nonce" : "Unauthorized")
    answer.attributes += [.realm(realm), .nonce(nonce!.bytes)]
    return answer
  }

  private mutating func authenticated(_ message: STUNMessage, now: Instant) -> STUNMessage {
    if let code = refusals[message.method] { return message.errorResponse(code: code, reason: "No\u{1b}[31m") }
    var attributes: [STUNAttribute] = []
    switch message.method {
    case .allocate:
      guard !isAllocated(at: now) else { return message.errorResponse(code: 437, reason: "Allocation Mismatch") }
      guard message.attributes.contains(.requestedTransport(17)) else {
        return message.errorResponse(code: 442, reason: "Unsupported Transport")
      }
      guard message.attributes.contains(.requestedAddressFamily(isIPv6: true)) == relayed.ip.isIPv6 else {
        return message.errorResponse(code: 440, reason: "Address Family not Supported")
      }
      permissions = [:]
      channels = [:]
      allocationExpiry = now + lifetime
      attributes = [
        .xorRelayedAddress(relayed), .xorMappedAddress(Self.client), .lifetime(UInt32(lifetime.components.seconds)),
      ]
    case _ where !isAllocated(at: now): return message.errorResponse(code: 437, reason: "Allocation Mismatch")
    case .refresh:
      let granted = message.lifetime == 0 ? .zero : lifetime
      allocationExpiry = now + granted
      attributes = [.lifetime(UInt32(granted.components.seconds))]
    case .createPermission:
      for case .xorPeerAddress(let peer) in message.attributes {
        guard !forbidden.contains(peer.ip) else { return message.errorResponse(code: 403, reason: "Forbidden") }
        permissions[peer.ip] = now + .seconds(300)
      }
    case .channelBind:
      guard let number = message.channelNumber, (0x4000...0x4fff).contains(number), let peer = message.peerAddress
      else {
        return message.errorResponse(code: 400, reason: "Bad Request")
      }
      guard !forbidden.contains(peer.ip) else { return message.errorResponse(code: 403, reason: "Forbidden") }
      let others = channels.filter {
        $0.value.expiry + .seconds(300) > now && ($0.key == number) != ($0.value.peer == peer)
      }
      guard others.isEmpty else {
        complaints.append("channel \(number) for \(peer) is taken")
        return message.errorResponse(code: 400, reason: "Bad Request")
      }
      channels[number] = (peer, now + .seconds(600))
      permissions[peer.ip] = now + .seconds(300)
    default: return message.errorResponse(code: 400, reason: "Bad Request")
    }
    return STUNMessage(.successResponse, message.method, transactionID: message.transactionID, attributes: attributes)
  }

  // MARK: - Data

  private mutating func receiveChannelData(_ bytes: [UInt8], now: Instant) {
    let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    let length = Int(bytes[2]) << 8 | Int(bytes[3])
    guard isAllocated(at: now), let channel = channels[number], channel.expiry > now else {
      complaints.append("no channel \(number)")
      return
    }
    deliver(Array(bytes[4..<4 + length]), to: channel.peer, byChannel: true, now: now)
  }

  private mutating func receiveIndication(_ message: STUNMessage, now: Instant) {
    if message.method == .binding {
      keepalives += 1
    } else if message.method == .send, let peer = message.peerAddress, let payload = message.data {
      deliver(payload, to: peer, byChannel: false, now: now)
    } else {
      complaints.append("a strange indication")
    }
  }

  private mutating func deliver(_ payload: [UInt8], to peer: TransportAddress, byChannel: Bool, now: Instant) {
    guard isAllocated(at: now), let expiry = permissions[peer.ip], expiry > now else {
      complaints.append("no permission for \(peer.ip)")
      return
    }
    delivered.append((payload, peer, byChannel))
  }

  /// What the client gets of a peer's datagram; nil when the peer may not send.
  func relay(_ payload: [UInt8], from peer: TransportAddress, now: Instant) -> [UInt8]? {
    guard isAllocated(at: now), let expiry = permissions[peer.ip], expiry > now else { return nil }
    if let channel = channels.first(where: { $0.value.peer == peer && $0.value.expiry > now }) {
      return Self.channelData(payload, on: channel.key)
    }
    return Self.indication(payload, from: peer)
  }

  static func channelData(_ payload: [UInt8], on number: UInt16) -> [UInt8] {
    let bytes =
      [UInt8(number >> 8), UInt8(number & 255), UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
    return bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
  }

  static func indication(_ payload: [UInt8], from peer: TransportAddress) -> [UInt8] {
    STUNMessage(
      .indication, .data, transactionID: STUNTransactionID(bytes: Array(1...12))!,
      attributes: [.xorPeerAddress(peer), .data(payload)]
    ).encode(fingerprint: false, hashes: TestHashes())
  }

  mutating func forgetNonce() { nonce = nil }

  /// The allocation is gone, as when the server was started anew.
  mutating func forget() {
    allocationExpiry = nil
    permissions = [:]
    channels = [:]
    nonce = nil
  }
}
