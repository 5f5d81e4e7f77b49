import STUN
import TURN
import Wire

/// A TURN client whose server says anything, over UDP and over a stream, while time goes on.
///
/// An input is a row of steps: a command byte, a length byte and that many bytes. Its length decides on the transport.
enum TURNFuzz: FuzzBody {
  static let name = "TURN"

  private struct CountingGenerator: RandomNumberGenerator, Sendable {
    var value: UInt64 = 0
    mutating func next() -> UInt64 {
      value &+= 0x9e37_79b9_7f4a_7c15
      return value
    }
  }

  private enum Command: UInt8, CaseIterable {
    /// A response to the latest request, with its id and method.
    case response
    /// The same to an older one.
    case lateResponse
    case bytes, send, permit, wait, close
  }

  private static func step(_ command: Command, _ bytes: [UInt8] = []) -> [UInt8] {
    [command.rawValue, UInt8(bytes.count)] + bytes
  }

  private static func message(
    _ messageClass: STUNClass, _ method: STUNMethod = .allocate, _ attributes: [STUNAttribute], key: [UInt8]? = []
  ) -> [UInt8] {
    STUNMessage(messageClass, method, transactionID: STUNTransactionID(bytes: Array(1...12))!, attributes: attributes)
      .encode(key: key, fingerprint: false, hashes: BlindHashes())
  }

  private static func peer(_ number: UInt8) -> TransportAddress {
    TransportAddress(ip: .v4(0xc633_6400 | UInt32(number & 15)), port: 6000 + UInt16(number >> 4))
  }

  static var seeds: [[UInt8]] {
    let challenge: [STUNAttribute] = [.realm("r"), .nonce([1, 2])]
    let address = STUNAttribute.xorRelayedAddress(TransportAddress(ip: .v4(0xc000_020f), port: 50_000))
    let mapped = STUNAttribute.xorMappedAddress(peer(0))
    let success = message(.successResponse, .allocate, [address, mapped, .lifetime(600)])
    let plain = message(.successResponse, .refresh, [.lifetime(300)])
    let asked = message(.errorResponse, .allocate, [.errorCode(code: 401, reason: "")] + challenge, key: nil)
    let stale = message(.errorResponse, .refresh, [.errorCode(code: 438, reason: "")] + challenge, key: nil)
    let elsewhere = message(
      .errorResponse, .allocate, [.errorCode(code: 300, reason: ""), .alternateServer(peer(3))], key: nil)
    let forbidden = message(.errorResponse, .channelBind, [.errorCode(code: 403, reason: "no")])
    let full = message(.errorResponse, .channelBind, [.errorCode(code: 508, reason: "full")])
    let indication = message(.indication, .data, [.xorPeerAddress(peer(1)), .data([1, 2, 3])], key: nil)
    let channelData: [UInt8] = [0x40, 0, 0, 3, 7, 7, 7, 0]
    let start = step(.response, asked) + step(.response, success)
    let bound = start + step(.send, [1, 9, 9]) + step(.response, plain)
    let rows = [
      bound + step(.bytes, channelData) + step(.bytes, indication) + step(.wait, [240]) + step(.response, stale)
        + step(.response, plain) + step(.lateResponse, plain) + step(.wait, [255]) + step(.close)
        + step(.response, plain),
      step(.permit, [1]) + start + step(.response, plain) + step(.bytes, indication) + step(.wait, [200])
        + step(.response, plain) + step(.wait, [255]) + step(.wait, [255]),
      step(.response, asked) + step(.response, elsewhere),
      start + step(.send, [2, 1]) + step(.response, forbidden) + step(.wait, [70]) + step(.send, [2, 1])
        + step(.response, full) + step(.response, plain) + step(.send, [2, 1]),
      bound + step(.bytes, Array(channelData.prefix(5))) + step(.bytes, Array(channelData.suffix(3)))
        + step(.wait, [9]),
    ]
    // One byte more makes the other transport of them.
    return rows + rows.map { $0 + [0] }
  }

  static func run(_ input: [UInt8]) {
    let isStream = !input.count.isMultiple(of: 2)
    let server = TURNServer(
      address: TransportAddress(ip: .v4(0xc000_020f), port: 3478), transport: isStream ? .tcp : .udp)
    var client = TURNClient(
      configuration: TURNClientConfiguration(
        server: server,
        credentials: TURNCredentials(username: "u", password: "p", expiresAt: .zero + .seconds(3000))),
      hashes: BlindHashes(), random: CountingGenerator())
    var now = Instant.zero
    var asked: [ArraySlice<UInt8>] = []
    var known: Set<IPAddress> = []
    var isOver = false
    func drain() {
      var outputs = 0
      while let output = client.poll() {
        outputs += 1
        precondition(!isOver, "nothing follows the end")
        precondition(outputs < 2000, "one event must not cause outputs without end")
        switch output {
        case .transmit(let bytes):
          // Requests: class bits are zero.
          if bytes.count >= 20, bytes[0] < 0x40, bytes[0] & 1 == 0, bytes[1] & 0x10 == 0 { asked.append(bytes[..<20]) }
        case .received(_, let peer): precondition(known.contains(peer.ip), "a stranger is not heard")
        case .allocated(let relayed, _): precondition(client.relayedAddress == relayed || client.relayedAddress == nil)
        case .ended: isOver = true
        case .peerRefused, .renewalDue: break
        }
      }
      precondition(client.peersInUse.count <= 256)
      precondition(!isOver || client.nextDeadline == nil)
    }
    client.allocate(now: now)
    drain()
    var reader = ByteReader(input.prefix(4096))
    while let code = try? reader.readUInt8(), let length = try? reader.readUInt8() {
      let bytes = Array((try? reader.readBytes(min(Int(length), reader.remaining))) ?? [])
      let first = bytes.first ?? 0
      let command = Command.allCases[Int(code) % Command.allCases.count]
      switch command {
      case .response, .lateResponse:
        guard bytes.count >= 20, let question = command == .response ? asked.last : asked.dropLast().last else { break }
        var answer = bytes
        // Its class, with the request's method.
        answer[0] = question[question.startIndex] | bytes[0] & 1
        answer[1] = question[question.startIndex + 1] | bytes[1] & 0x10
        answer.replaceSubrange(8..<20, with: question.suffix(12))
        client.handle(answer, now: now)
      case .bytes: client.handle(bytes, now: now)
      case .send:
        known.insert(peer(first).ip)
        client.send(Array(bytes.dropFirst()), to: peer(first), now: now)
      case .permit:
        known.insert(peer(first).ip)
        client.permit(peer(first), now: now)
      case .wait: now += .seconds(Int64(first))
      case .close: client.close(now: now)
      }
      drain()
      for _ in 0..<8 {
        guard let deadline = client.nextDeadline, deadline <= now else { break }
        client.handleTimeout(now: now)
        drain()
      }
    }
    // Left alone, the client comes to rest or goes on in time; it never spins.
    var steps = 0
    while let deadline = client.nextDeadline, deadline < now + .seconds(600), steps < 5000 {
      now = max(now, deadline)
      client.handleTimeout(now: now)
      drain()
      steps += 1
    }
    precondition(steps < 5000, "time goes on")
  }
}
