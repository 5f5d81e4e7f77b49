internal import ICE
internal import Wire

/// What a session has tried to reach a child that answers, for the case that none of it works.
struct PathSearch {
  private let reach: NetworkReach
  private let paths: PathChoice
  private let hasServers: Bool
  /// Of our own candidates.
  private var types: Set<ICECandidateType> = [.host]
  /// Why there is no relay, in the server's words.
  var relayFailure: String?

  init(reach: NetworkReach, paths: PathChoice, hasServers: Bool) {
    self.reach = reach
    self.paths = paths
    self.hasServers = hasServers
  }

  /// - Parameter candidate: one that a server gave (`candidate:…`).
  mutating func note(_ candidate: String) {
    if let candidate = try? ICECandidate(attribute: candidate) { types.insert(candidate.type) }
  }

  /// For a person.
  var failure: String {
    let found = "the camera answers, but no path for picture and sound was found"
    if paths == .relay, reach == .elsewhere, !types.contains(.relayed) {
      return "no relay could be used: " + (relayFailure ?? "the camera names no TURN server")
    }
    guard reach == .elsewhere else {
      return "\(found): does a firewall or the router keep this device from the camera's UDP port (`media-ports`)?"
    }
    if types.contains(.relayed) { return "\(found), not even through the relay; is UDP blocked at the camera's end?" }
    if let relayFailure { return "\(found), and no relay could be used: \(relayFailure)" }
    let needsRelay = "\(found): between these two networks a relay is needed"
    if paths == .direct { return "\(needsRelay); leave out `--path direct`" }
    if !hasServers {
      return "\(found): both networks hide their devices, and no STUN or TURN server is known. Name one under "
        + "`ice-servers` in child.yaml, and connect once at home so that this computer learns of it"
    }
    if types.contains(.serverReflexive) {
      return "\(needsRelay). Name a TURN server under `ice-servers` in child.yaml"
    }
    return "\(found): no STUN or TURN server answered; is UDP blocked in this network?"
  }
}
