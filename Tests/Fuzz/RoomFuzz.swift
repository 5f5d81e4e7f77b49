import Identity
import SecureTransport
import Signaling
import TestSupport
import Wire

/// Clients of a room server: their requests as text, and what another server's replies would be read as. The input is lines;
/// the first byte of each says which client sends it.
enum RoomFuzz: FuzzBody {
  static let name = "rooms"

  static let seeds: [[UInt8]] = [
    #"1{"cmd":"register","roomid":"R","clientid":"a"}"# + "\n" + #"1{"cmd":"send","to":"R","msg":"x"}"#,
    #"1{"cmd":"register","roomid":"R","clientid":"a"}"# + "\n" + #"2{"cmd":"register","roomid":"R","clientid":"a"}"#,
    #"1{"cmd":"register","roomid":"n","clientid":"n"}"# + "\n" + #"1{"cmd":"send","to":"b","msg":"x"}"#
      + "\n" + #"2{"cmd":"register","roomid":"n","clientid":"b"}"#,
    #"3{"registered":{"roomid":"R","clientid":"a","initiator":true,"challenge":"c","messages":[{"from":"b","msg":"m"}]}}"#,
    #"3{"registered":{"roomid":"R","clientid":"a","initiator":true,"challenge":"c","messages":[],"present":"p"}}"#,
    #"4{"cmd":"register","roomid":"0123456789abcdef","clientid":"0123456789abcdef"}"# + "\n"
      + #"4{"cmd":"prove","proof":"e30.e30.AA","presence":"p"}"# + "\n" + #"4{"cmd":"vouch","client":"a"}"#,
    #"4{"cmd":"announce","presence":"p"}"# + "\n" + #"4{"cmd":"dismiss","client":"a","reason":"r"}"#,
    #"3{"vouched":{"iceServers":[{"urls":["turn:h"],"username":"u","credential":"c"}]}}"#,
    #"3{"present":"p"}"# + "\n" + #"3{"absent":true}"# + "\n" + #"3{"proved":{"iceServers":[]}}"#,
    #"3{"from":"a","msg":"\u0041"}"#, #"3{"error":{"code":"full","message":"m"}}"#,
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    var limits = RoomLimits()
    limits.maximumConnections = 4
    limits.maximumWaitingBytes = 1024
    let hosts = RoomHosts(
      names: ["meet.example.org"], children: nil, verifier: PairingPrimitives(), hashes: CryptoHashes())
    var server = RoomServer(limits: limits, hosts: hosts, random: SeededGenerator(seed: 1))
    server.open(room: "R", host: RoomConnectionID(number: 0))
    var now = Instant.zero
    for number in 1...6 as ClosedRange<UInt64> { _ = server.connect(RoomConnectionID(number: number), now: now) }
    for line in input.split(separator: 10).prefix(64) {
      let id = RoomConnectionID(number: UInt64(line.first ?? 0) & 7)
      let text = String(decoding: line.dropFirst(), as: UTF8.self)
      if let reply = try? RoomMessages.reply(text) {
        precondition((try? RoomMessages.reply(RoomMessages.text(reply))) != nil, "what was written is read")
      }
      guard let request = try? RoomMessages.request(text) else { continue }
      precondition(
        (try? RoomMessages.request(RoomMessages.text(request))) == request || text.utf8.count > 16 * 1024,
        "what was written reads back the same")
      for case .send(_, let reply) in server.receive(request, from: id, now: now) {
        _ = RoomMessages.text(reply)
      }
      now += .milliseconds(Int64(line.first ?? 0) * 20)
      _ = server.handleTimeout(now: now)
    }
    _ = server.handleTimeout(now: now + .seconds(60))
    precondition(server.nextDeadline == nil, "nothing waits for ever")
  }
}
