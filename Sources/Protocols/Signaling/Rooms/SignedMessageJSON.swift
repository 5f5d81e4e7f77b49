internal import JSON
internal import Pairing
internal import Wire

/// The signed JSON: header and payload of a compact JWS. interfaces/wire.md, "Rooms".
package enum SignedMessageJSON {
  // MARK: - Header

  /// The protected header of a message of node `id`: `alg` ES256, and `kid`.
  package static func header(id: String) -> [UInt8] { bytes(["alg": "ES256", "kid": id]) }

  /// The `kid` of a protected header. Refuses every other algorithm and every other member: a key or certificate in the
  /// header would only be the sender's own claim, and `crit` names extensions that are not understood
  /// (RFC 7515 sections 4.1.3, 4.1.5 and 4.1.11).
  package static func signer(ofHeader header: [UInt8]) throws(SignalingRefusal) -> String {
    let members = try members(of: header)
    guard members.count == 2, let algorithm = members["alg"]?.string, let id = members["kid"]?.string else {
      throw .malformed("a JWS header has alg and kid, and nothing else")
    }
    guard algorithm == "ES256" else { throw .malformed("the algorithm is ES256") }
    guard SignedMessage.isNodeID(id) else { throw .malformed("kid is a node's id") }
    return id
  }

  // MARK: - Payload

  package static func payload(_ message: SignedMessage) -> [UInt8] {
    let (type, content) = text(of: message.content)
    let members = [
      "type": type, "from": message.from, "to": message.to, "session": message.session, "challenge": message.challenge,
    ].merging(content) { $1 }
    return bytes(members, message.revision == 0 ? [:] : ["revision": .number(Double(message.revision))])
  }

  private static func text(of content: SignedMessage.Content) -> (type: String, members: [String: String]) {
    switch content {
    case .offer(let sdp): ("offer", ["sdp": sdp])
    case .answer(let sdp): ("answer", ["sdp": sdp])
    case .restart(let fragment): ("offer", ["sdpfrag": fragment])
    case .restarted(let fragment): ("answer", ["sdpfrag": fragment])
    case .candidate(let candidate, let mid):
      ("candidate", ["candidate": candidate, "sdpMid": mid].compactMapValues(\.self))
    case .endOfCandidates: ("end-of-candidates", [:])
    case .bye(let reason): ("bye", ["reason": reason.rawValue])
    }
  }

  private static func bytes(_ texts: [String: String], _ others: [String: JSON] = [:]) -> [UInt8] {
    Array(JSON.object(others.merging(texts.mapValues { .string($0) }) { $1 }).text.utf8)
  }

  package static func message(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> SignedMessage {
    let members = try members(of: bytes)
    guard let from = members["from"]?.string, SignedMessage.isNodeID(from),
      let to = members["to"]?.string, SignedMessage.isNodeID(to)
    else { throw .malformed("from and to are ids of nodes") }
    guard let session = members["session"]?.string, SignedMessage.isSession(session),
      let challenge = members["challenge"]?.string, SignedMessage.isChallenge(challenge)
    else { throw .malformed("session and challenge are random bytes in base64url") }
    let revision = try revision(members["revision"])
    return SignedMessage(
      from: from, to: to, session: session, challenge: challenge, revision: revision, content: try content(members)
    )
  }

  // MARK: - Statements of a child

  package static func payload(_ presence: Presence) -> [UInt8] {
    let texts = [
      "type": "presence", "from": presence.child, "challenge": presence.challenge, "process": presence.process,
    ]
    return bytes(texts.compactMapValues(\.self), ["expires": .number(Double(presence.expires))])
  }

  package static func presence(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> Presence {
    let members = try members(of: bytes)
    guard members["type"]?.string == "presence", let child = members["from"]?.string, SignedMessage.isNodeID(child),
      let challenge = members["challenge"]?.string, SignedMessage.isChallenge(challenge),
      case .number(let seconds)? = members["expires"], let expires = Int64(exactly: seconds)
    else { throw .malformed("a presence has from, challenge and expires") }
    return Presence(child: child, challenge: challenge, expires: expires, process: members["process"]?.string)
  }

  package static func payload(_ proof: HostProof) -> [UInt8] {
    bytes([
      "type": "host", "from": proof.child, "server": proof.server, "challenge": proof.challenge,
      "key": Base64URL.encode(proof.publicKeySPKI),
    ])
  }

  package static func hostProof(ofPayload bytes: [UInt8]) throws(SignalingRefusal) -> HostProof {
    let members = try members(of: bytes)
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
