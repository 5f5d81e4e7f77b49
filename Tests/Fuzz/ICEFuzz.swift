import ICE
import STUN
import Wire

/// An agent fed with checks, responses, candidates and commands in any order, while time goes on.
///
/// An input is a row of steps: a command byte, a length byte and that many bytes.
enum ICEFuzz: FuzzBody {
  static let name = "ICE"

  private struct CountingGenerator: RandomNumberGenerator, Sendable {
    var value: UInt64 = 0
    mutating func next() -> UInt64 {
      value &+= 0x9e37_79b9_7f4a_7c15
      return value
    }
  }

  private enum Command: UInt8, CaseIterable {
    case datagram, response, candidate, name, wait, credentials, restart, data, localCandidate, end
  }

  private static let ours = ICECredentials(usernameFragment: "ours", password: "0123456789012345678901")
  private static let theirs = ICECredentials(usernameFragment: "them", password: "0123456789012345678901")

  private static func step(_ command: Command, _ bytes: [UInt8] = []) -> [UInt8] {
    [command.rawValue, UInt8(bytes.count)] + bytes
  }

  private static func message(_ messageClass: STUNClass, _ attributes: [STUNAttribute]) -> [UInt8] {
    STUNMessage(messageClass, transactionID: STUNTransactionID(bytes: Array(1...12))!, attributes: attributes)
      .encode(key: [], fingerprint: false, hashes: BlindHashes())
  }

  static var seeds: [[UInt8]] {
    let mapped = STUNAttribute.xorMappedAddress(TransportAddress(ip: .v4(0x0a00_0001), port: 9))
    let check = message(.request, [.username("ours:them"), .priority(77), .iceControlling(5), .useCandidate])
    let conflict = message(.request, [.username("ours:them"), .priority(77), .iceControlled(.max)])
    let success = message(.successResponse, [mapped])
    let refusal = message(.errorResponse, [.errorCode(code: 487, reason: "")])
    let line = Array("candidate:1 1 udp 1677729535 10.0.0.2 46154 typ srflx raddr 10.0.0.1 rport 9".utf8)
    let hidden = Array("candidate:1 1 udp 77 abc.local 46154 typ host ufrag them".utf8)
    let start = step(.localCandidate, [1]) + step(.credentials)
    let connect = start + step(.datagram, [3] + check) + step(.response, success)
    let rows = [
      connect + step(.wait, [50]) + step(.response, success) + step(.wait, [200]) + step(.data, [3]) + step(.end),
      start + step(.candidate, line) + step(.response, refusal) + step(.response, success)
        + step(.datagram, [4] + check),
      step(.datagram, [9] + check) + start + step(.candidate, hidden) + step(.name, [10, 0, 0, 9]) + step(.wait, [9]),
      connect + step(.restart) + step(.datagram, [3] + check) + step(.credentials, [2]) + step(.response, success),
      connect + step(.datagram, [3] + conflict) + step(.response, success) + step(.wait, [120]) + step(.wait, [250]),
    ]
    // One byte more makes the other role of them.
    return rows + rows.map { $0 + [0] }
  }

  static func run(_ input: [UInt8]) {
    let isControlling = !input.count.isMultiple(of: 2)
    var agent = ICEAgent(
      role: isControlling ? .controlling : .controlled, credentials: ours, hashes: BlindHashes(),
      random: CountingGenerator())
    let local = TransportAddress(ip: .v4(0x0a00_0001), port: 5000)
    var now = Instant.zero
    var asked: [(id: ArraySlice<UInt8>, to: TransportAddress)] = []
    var names: [String] = []
    var reader = ByteReader(input.prefix(4096))
    while let code = try? reader.readUInt8(), let length = try? reader.readUInt8() {
      let bytes = Array((try? reader.readBytes(min(Int(length), reader.remaining))) ?? [])
      let first = bytes.first ?? 0
      let peer = TransportAddress(ip: .v4(0x0a00_0100 | UInt32(first)), port: 6000)
      switch Command.allCases[Int(code) % Command.allCases.count] {
      case .datagram: agent.handle(datagram: Array(bytes.dropFirst()), from: peer, to: local, now: now)
      case .response:
        guard let question = asked.last, bytes.count >= 20 else { break }
        var answer = bytes
        answer.replaceSubrange(8..<20, with: question.id)
        agent.handle(datagram: answer, from: question.to, to: local, now: now)
      case .candidate:
        if let candidate = try? ICECandidate(attribute: String(decoding: bytes, as: UTF8.self)) {
          let again = try? ICECandidate(attribute: candidate.attribute)
          precondition(again?.address == candidate.address && again?.priority == candidate.priority)
          agent.addRemoteCandidate(candidate, now: now)
        }
      case .name:
        if let ip = IPAddress(bytes: bytes), let name = names.last {
          agent.addResolved(name: name, address: ip, now: now)
        }
      case .wait: now += .milliseconds(Int64(first) * 100)
      case .credentials:
        var credentials = theirs
        if first > 1 { credentials.usernameFragment = "them\(first)" }
        agent.setRemoteCredentials(credentials, now: now)
      case .restart: _ = agent.restart(now: now)
      case .data: agent.noteReceived(from: peer, now: now)
      case .localCandidate:
        let ip: IPAddress = first < 128 ? .v4(0x0a00_0000 | UInt32(first)) : .v6(0x2001_0db8 << 32, UInt64(first))
        agent.addLocalCandidate(.host(TransportAddress(ip: ip, port: 5000)), now: now)
      case .end: agent.endOfRemoteCandidates(now: now)
      }
      for _ in 0..<8 {
        guard let deadline = agent.nextDeadline, deadline <= now else { break }
        agent.handleTimeout(now: now)
      }
      while let output = agent.poll() {
        switch output {
        case .transmit(let datagram, _, let to):
          if datagram.starts(with: [0, 1]) { asked.append((datagram[8..<20], to)) }
        case .resolve(let name): names.append(name)
        case .stateChanged, .selectedPairChanged: break
        }
      }
      precondition((agent.selectedPair != nil) == [.connected, .completed, .disconnected].contains(agent.state))
      precondition(agent.statistics.count <= 100)
    }
    // Left alone, the agent comes to rest or goes on in time; it never spins.
    var steps = 0
    while let deadline = agent.nextDeadline, deadline < now + .seconds(60), steps < 20_000 {
      agent.handleTimeout(now: max(deadline, now))
      while agent.poll() != nil {}
      steps += 1
    }
    precondition(steps < 20_000, "time goes on")
  }
}
