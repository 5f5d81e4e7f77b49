internal import SDP

// PATCH: trickled candidates and ICE restarts.
extension WHEPEndpoint {
  /// Candidates, or a restart if the credentials are new.
  mutating func patch(
    _ request: WHEPRequest, _ id: WHEPSessionID, _ session: OpenSession
  ) throws(Problem) -> WHEPEffect {
    let text = try body(of: request, type: MediaType.trickleFragment)
    let fragment: TrickleFragment
    do {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw Problem(400, "malformed SDP fragment, \(error)")
    }
    // Section "HTTP PATCH request usage" of the draft: 428 without a tag, 412 for another ICE session's. Players also
    // send `*` with candidates, although it is meant for restarts; it matches any session. Others send no tag: the present
    // credentials name the ICE session as well.
    let condition = IfMatch(request.headers["If-Match"])
    let namesPresentSession = session.remote.contains { $0.ufrag == fragment.ufrag }
    guard condition != .missing || namesPresentSession else {
      throw Problem(428, "send If-Match with the ETag of the session, or its present ice-ufrag")
    }
    guard condition == .missing || condition.allows(session.entityTag) else {
      throw Problem(412, "the ETag is that of an ICE session before the last restart")
    }
    guard let ufrag = fragment.ufrag, !session.remote.contains(where: { $0.ufrag == ufrag }) else {
      if let pwd = fragment.pwd, !session.remote.contains(where: { $0.pwd == pwd }) {
        throw Problem(400, "ice-pwd changed without ice-ufrag")
      }
      // The draft: 204 without an ETag.
      return .addCandidates(id, fragment, finish(WHEPResponse(status: 204), for: request))
    }
    guard let pwd = fragment.pwd else { throw Problem(400, "a new ice-ufrag needs a new ice-pwd") }
    var session = session
    session.restartingTo = ICEIdentity(ufrag: ufrag, pwd: pwd)
    sessions[id] = .open(session)
    return .restart(id, ufrag: ufrag, pwd: pwd, fragment)
  }
}
