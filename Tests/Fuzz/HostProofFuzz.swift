import Pairing
import Signaling
import TestSupport
import Wire

/// What says at a room server that it is a room's child: the payloads of its proof and its presence, whose signatures are
/// good, so that the inner parts are reached. The input is lines, one payload each.
enum HostProofFuzz: FuzzBody {
  static let name = "host proof"

  /// `BlindHashes` makes it of every key.
  private static let child = "0707070707070707"
  private static let server = "meet.example.org"
  /// As the server makes it from the seed.
  private static let challenge: String = {
    var random: any RandomNumberGenerator = SeededGenerator(seed: 3)
    return RandomName.make(from: &random)
  }()

  static var seeds: [[UInt8]] {
    let key = [UInt8](repeating: 5, count: IdentityKey.byteCount)
    let proof = HostProof(child: child, server: server, challenge: challenge, publicKeySPKI: key)
    var elsewhere = proof
    elsewhere.server = "other.example.org"
    let presence = Presence(child: child, challenge: challenge, expires: 4_102_444_800)
    let payloads = [
      SignedMessageJSON.payload(proof), SignedMessageJSON.payload(elsewhere), SignedMessageJSON.payload(presence),
    ]
    return payloads + [payloads[0] + [10] + payloads[2] + [10] + payloads[0]]
  }

  private static func sealed(_ payload: some Sequence<UInt8>) -> String {
    let signature = [UInt8](repeating: 1, count: IdentityKey.signatureByteCount)
    return [SignedMessageJSON.header(id: child), Array(payload), signature].map { Base64URL.encode($0) }.joined(
      separator: ".")
  }

  static func run(_ input: [UInt8]) {
    let hosts = RoomHosts(
      names: [server], children: nil, verifier: BlindSignatures(), hashes: BlindHashes())
    // A longer payload is one that can be read, and not sealed.
    for (number, line) in input.split(separator: 10).prefix(8).enumerated() where line.count <= 16 * 1024 {
      var rooms = RoomServer(hosts: hosts, random: SeededGenerator(seed: 3))
      if let presence = try? SignedMessageJSON.presence(ofPayload: Array(line)) {
        precondition(
          (try? SignedMessageJSON.presence(ofPayload: SignedMessageJSON.payload(presence))) == presence,
          "what was written reads back the same")
      }
      if let proof = try? SignedMessageJSON.hostProof(ofPayload: Array(line)) {
        precondition(
          (try? SignedMessageJSON.hostProof(ofPayload: SignedMessageJSON.payload(proof))) == proof,
          "what was written reads back the same")
      }
      let id = RoomConnectionID(number: UInt64(number))
      _ = rooms.connect(id, now: .zero)
      guard
        case .send(_, .registered(let registration))? =
          rooms.receive(.register(room: child, client: child), from: id, now: .zero).first,
        registration.challenge == challenge
      else { preconditionFailure("whoever says that it is the host may prove it") }
      let actions = rooms.receive(.prove(proof: sealed(line), presence: "p"), from: id, now: .zero)
      let isAccepted = actions.contains { if case .send(id, .proved) = $0 { true } else { false } }
      let proof = try? SignedMessageJSON.hostProof(ofPayload: Array(line))
      precondition(
        isAccepted == (proof?.child == child && proof?.server == server && proof?.challenge == challenge),
        "only a proof for this room, this server and this registration counts")
      precondition(rooms.occupancy.hosts == (isAccepted ? 1 : 0), "whoever has proven it is the host")
      precondition(isAccepted || !actions.isEmpty, "whoever is refused is told")
    }
  }
}
