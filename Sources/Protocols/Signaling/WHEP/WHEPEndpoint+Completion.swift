public import SDP

// Outcomes that the shell reports, and the responses to the viewer.
extension WHEPEndpoint {
  /// The shell has created the session, or failed to. The problem is for example 503 when no place is left, or
  /// `Problem(negotiation:)`.
  public mutating func completeCreate(
    _ id: WHEPSessionID, _ result: Result<SessionDescription, Problem>
  ) -> WHEPResponse {
    guard case .creating(let remote, let location, let credential)? = sessions[id] else {
      return finish(
        WHEPResponse(Problem(503, "the session ended before it began", retryAfter: configuration.retryAfter)))
    }
    switch result {
    case .failure(let problem):
      sessions[id] = nil
      return finish(WHEPResponse(problem))
    case .success(let answer):
      let tagged = answer.bundle?.first.flatMap(answer.media(mid:)) ?? answer.media.first { $0.port != 0 }
      let session = OpenSession(
        credential: credential, entityTag: newEntityTag(), remote: remote, mid: tagged?.mid ?? "",
        mediaLine: tagged.map { "\($0.kind.name) 9 \($0.transport) \($0.formats.joined(separator: " "))" }
          ?? "audio 9 - 0",
        bundle: answer.bundle ?? [], iceOptions: tagged?.iceOptions ?? [], isICELite: answer.isICELite)
      sessions[id] = .open(session)
      var response = WHEPResponse(status: 201, body: Array(answer.description.utf8))
      response.headers.add("Content-Type", MediaType.sdp)
      response.headers.add("Location", location)
      response.headers.add("ETag", session.entityTag)
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
      // It contains credentials.
      response.headers.add("Cache-Control", "no-store")
      for link in iceServers.flatMap(\.links) { response.headers.add("Link", link) }
      return finish(response)
    }
  }

  /// The shell has restarted ICE, or failed to; then the session continues as it was.
  public mutating func completeRestart(
    _ id: WHEPSessionID, _ result: Result<WHEPRestartedICE, Problem>
  ) -> WHEPResponse {
    guard case .open(var session)? = sessions[id], let remote = session.restartingTo else {
      return finish(WHEPResponse(Problem(404, "the session ended during the restart")))
    }
    session.restartingTo = nil
    defer { sessions[id] = .open(session) }
    switch result {
    case .failure(let problem):
      return finish(WHEPResponse(problem))
    case .success(let ice):
      session.remote = [remote]
      session.entityTag = newEntityTag()
      let fragment = TrickleFragment(
        ufrag: ice.ufrag, pwd: ice.pwd, iceOptions: session.iceOptions, isICELite: session.isICELite,
        bundle: session.bundle,
        sections: [
          .init(
            mid: session.mid, mediaLine: session.mediaLine, candidates: ice.candidates, endOfCandidates: true)
        ])
      var response = WHEPResponse(status: 200, body: Array(fragment.description.utf8))
      response.headers.add("Content-Type", MediaType.trickleFragment)
      response.headers.add("ETag", session.entityTag)
      response.headers.add("Cache-Control", "no-store")
      return finish(response)
    }
  }

  private mutating func newEntityTag() -> String {
    "\"" + randomText(characters: 12, random: &random) + "\""
  }
}
