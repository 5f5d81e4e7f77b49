internal import ICE
public import Wire

// Candidates that servers give. RFC 8445 section 5.1.1.2, RFC 8838 section 9.
extension PeerConnection {
  /// Adds the address at which a STUN server sees our socket's address `base`. Ignored where no NAT stands between
  /// (RFC 8445 section 5.1.3: redundant), and where `base` is gone.
  public func addServerReflexiveCandidate(_ address: TransportAddress, base: TransportAddress, now: Instant) {
    guard localCandidates.contains(base), !localCandidates.contains(address) else { return }
    gathered(.serverReflexive(address, base: base, localPreference: preference(of: base)), now: now)
  }

  /// Adds an address that a TURN server has allocated for us. What is transmitted `from` it goes through that server, and
  /// what the server passes on is handled as received at it.
  ///
  /// - Parameters:
  ///   - related: where the server sees us (RFC 8839 section 5.1); nil to hide it.
  ///   - preference: the higher of two is used: a new allocation takes over from an old one.
  public func addRelayedCandidate(
    _ address: TransportAddress, related: TransportAddress?, preference: UInt16, now: Instant
  ) {
    // RFC 8828 section 3.2: what the related address says is not for the peer either.
    let related = configuration.iceTransportPolicy == .all ? related : nil
    gathered(.relayed(address, related: related, localPreference: preference), now: now)
  }

  /// An allocation has ended: its pairs end, and another pair takes over at once if there is one.
  public func removeRelayedCandidate(_ address: TransportAddress, now: Instant) {
    guard !localCandidates.contains(address) else { return }
    ice?.removeLocalCandidate(base: address, now: now)
    settle(now: now)
  }

  /// Every server has answered or been given up; until `resumeGathering`.
  public func endLocalCandidates(now: Instant) {
    guard isGathering else { return }
    isGathering = false
    if isDescribed { outputs.append(.event(.localCandidatesComplete)) }
  }

  /// Servers are asked again: another network, or a new allocation. RFC 8838 section 13.
  public func resumeGathering() { isGathering = true }

  private func gathered(_ candidate: ICECandidate, now: Instant) {
    guard let before = ice?.localCandidates.count, !state.isOver else { return }
    ice?.addLocalCandidate(candidate, now: now)
    guard let ice, ice.localCandidates.count > before else { return }
    if isDescribed { outputs.append(.event(.localCandidate(candidate.attribute))) }
    settle(now: now)
  }

  /// Our description has been made, so what comes later has to be told.
  private var isDescribed: Bool {
    if case .fresh = signaling { false } else { true }
  }

  /// As its host candidate has.
  private func preference(of base: TransportAddress) -> UInt16 {
    let host = ice?.localCandidates.first { $0.type == .host && $0.transportAddress == base }
    return host.map { UInt16(truncatingIfNeeded: $0.priority >> 8) } ?? 0
  }
}
