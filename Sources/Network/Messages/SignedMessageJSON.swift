internal import JSON
internal import Pairing
public import Signaling
internal import Wire

/// The signed JSON: header and payload of a compact JWS. interfaces/wire.md, "Rooms".
public struct SignedMessageJSON: SignedMessageFormat {
  public init() {}

  // MARK: - Header

  private struct Header: Encodable {
    var alg = "ES256"
    var kid: String
  }

  public func header(id: String) -> [UInt8] {
    Array(JSON.text(Header(kid: id)).utf8)
  }

  public func signer(ofHeader header: [UInt8]) throws(SignalingRefusal) -> String {
    let members = try Self.members(of: header)
    guard members.count == 2, let algorithm = members["alg"]?.string, let id = members["kid"]?.string else {
      throw .malformed("a JWS header has alg and kid, and nothing else")
    }
    guard algorithm == "ES256" else { throw .malformed("the algorithm is ES256") }
    guard SignedMessage.isNodeID(id) else { throw .malformed("kid is a node's id") }
    return id
  }

  // MARK: - Payload

  private struct Payload: Encodable {
    var type: String
    var from: String
    var to: String
    var session: String
    var challenge: String
    var revision: Int?
    var sdp: String?
    var sdpfrag: String?
    var candidate: String?
    var sdpMid: String?
    var reason: String?
  }

  public func payload(_ message: SignedMessage) -> [UInt8] {
    var payload = Payload(
      type: "", from: message.from, to: message.to, session: message.session, challenge: message.challenge,
      revision: message.revision == 0 ? nil : message.revision)
    switch message.content {
    case .offer(let sdp):
      payload.type = "offer"
      payload.sdp = sdp
    case .answer(let sdp):
      payload.type = "answer"
      payload.sdp = sdp
    case .restart(let fragment):
      payload.type = "offer"
      payload.sdpfrag = fragment
    case .restarted(let fragment):
      payload.type = "answer"
      payload.sdpfrag = fragment
    case .candidate(let candidate, let mid):
      payload.type = "candidate"
      payload.candidate = candidate
      payload.sdpMid = mid
    case .endOfCandidates:
      payload.type = "end-of-candidates"
    case .bye(let reason):
      payload.type = "bye"
      payload.reason = reason.rawValue
    }
    return Array(JSON.text(payload).utf8)
  }

  public func message(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> SignedMessage {
    let members = try Self.members(of: bytes)
    guard let from = members["from"]?.string, SignedMessage.isNodeID(from),
      let to = members["to"]?.string, SignedMessage.isNodeID(to)
    else { throw .malformed("from and to are ids of nodes") }
    guard let session = members["session"]?.string, SignedMessage.isSession(session),
      let challenge = members["challenge"]?.string, SignedMessage.isChallenge(challenge)
    else { throw .malformed("session and challenge are random bytes in base64url") }
    let revision = try Self.revision(members["revision"])
    return SignedMessage(
      from: from, to: to, session: session, challenge: challenge, revision: revision, content: try Self.content(members)
    )
  }

  // MARK: - Statements of a child

  private struct PresencePayload: Encodable {
    var type = "presence"
    var from: String
    var challenge: String
    var expires: Int64
    var process: String?
  }

  private struct HostProofPayload: Encodable {
    var type = "host"
    var from: String
    var server: String
    var challenge: String
    var key: String
  }

  public func payload(_ presence: Presence) -> [UInt8] {
    Array(
      JSON.text(
        PresencePayload(
          from: presence.child, challenge: presence.challenge, expires: presence.expires, process: presence.process)
      ).utf8)
  }

  public func presence(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> Presence {
    let members = try Self.members(of: bytes)
    guard members["type"]?.string == "presence", let child = members["from"]?.string, SignedMessage.isNodeID(child),
      let challenge = members["challenge"]?.string, SignedMessage.isChallenge(challenge),
      case .number(let seconds)? = members["expires"], let expires = Int64(exactly: seconds)
    else { throw .malformed("a presence has from, challenge and expires") }
    return Presence(child: child, challenge: challenge, expires: expires, process: members["process"]?.string)
  }

  public func payload(_ proof: HostProof) -> [UInt8] {
    Array(
      JSON.text(
        HostProofPayload(
          from: proof.child, server: proof.server, challenge: proof.challenge,
          key: Base64URL.encode(proof.publicKeySPKI))
      ).utf8)
  }

  public func hostProof(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> HostProof {
    let members = try Self.members(of: bytes)
    guard members["type"]?.string == "host", let child = members["from"]?.string, SignedMessage.isNodeID(child),
      let server = members["server"]?.string, (1...255).contains(server.utf8.count),
      let challenge = members["challenge"]?.string, SignedMessage.isChallenge(challenge),
      let key = members["key"]?.string.flatMap({ Base64URL.decode($0) }), key.count == IdentityKey.byteCount
    else { throw .malformed("a host's proof has from, server, challenge and key") }
    return HostProof(child: child, server: server, challenge: challenge, publicKeySPKI: key)
  }

  private static func members(of bytes: [UInt8]) throws(SignalingRefusal) -> [String: JSON] {
    guard let members = (try? JSON(bytes, maximumBytes: SignedMessage.maximumBytes, maximumDepth: 4))?.object else {
      throw .malformed("what is signed is a JSON object")
    }
    return members
  }

  private static func revision(_ member: JSON?) throws(SignalingRefusal) -> Int {
    guard let member else { return 0 }
    guard case .number(let value) = member, let revision = Int(exactly: value),
      (1...SignedMessage.maximumRevision) ~= revision
    else { throw .malformed("revision counts restarts") }
    return revision
  }

  private static func content(_ members: [String: JSON]) throws(SignalingRefusal) -> SignedMessage.Content {
    let type = members["type"]?.string ?? ""
    switch (type, members["sdp"]?.string, members["sdpfrag"]?.string) {
    case ("offer", let sdp?, nil):
      return .offer(sdp: sdp)
    case ("offer", nil, let fragment?):
      return .restart(fragment: fragment)
    case ("answer", let sdp?, nil):
      return .answer(sdp: sdp)
    case ("answer", nil, let fragment?):
      return .restarted(fragment: fragment)
    case ("candidate", nil, nil):
      let mid = members["sdpMid"]?.string
      guard let candidate = members["candidate"]?.string, candidate.hasPrefix("candidate:"),
        candidate.utf8.count <= longestCandidate, mid?.utf8.count ?? 0 <= longestMid
      else { throw .malformed("a candidate message has a candidate") }
      return .candidate(candidate, sdpMid: mid)
    case ("end-of-candidates", nil, nil):
      return .endOfCandidates
    case ("bye", nil, nil):
      // An unknown reason, from another version, ends the session as well.
      return .bye(members["reason"]?.string.flatMap(ByeReason.init(rawValue:)) ?? .left)
    default:
      throw .malformed("no message has this type and these members")
    }
  }

  private static let longestCandidate = 1024
  private static let longestMid = 64
}
