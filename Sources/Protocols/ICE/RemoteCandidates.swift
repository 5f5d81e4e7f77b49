import Wire

/// What the peer has named and what was learnt from its checks. RFC 8838 sections 10 and 11.
struct RemoteCandidates: Sendable {
  /// What becomes of a candidate that the peer has named.
  enum Arrival {
    case ignored
    /// Its name has to be resolved.
    case unresolved(name: String)
    /// A relay of the peer's where none is accepted.
    case refused(TransportAddress)
    case added
    /// The address was known from a check.
    case replaced(TransportAddress)
  }

  /// Of the current generation, with known addresses.
  private(set) var known: [ICECandidate] = []
  /// The peer has signalled end-of-candidates. RFC 8838 section 14.
  var haveEnded = false

  private let configuration: ICEConfiguration
  /// Of the peer's relays, where none is accepted.
  private var refused: Set<TransportAddress> = []
  /// Candidates whose name is being resolved.
  private var unresolved: [ICECandidate] = []
  /// Candidates received before their description.
  private var held: [ICECandidate] = []
  /// What the peer has named is accounted for until then; see `ICEConfiguration.signalledCandidateInterval`.
  private var paidUntil: Instant = .zero

  init(configuration: ICEConfiguration) {
    self.configuration = configuration
  }

  func isRefused(_ address: TransportAddress) -> Bool { refused.contains(address) }

  /// - Parameter isNamed: the peer has named those of the new generation already.
  mutating func beginGeneration(isNamed: Bool) {
    refused = []
    guard !isNamed else { return }
    known = []
    unresolved = []
    haveEnded = false
  }

  /// Keeps a candidate for later. Evicts the oldest: it most likely belongs to a past generation.
  mutating func hold(_ candidate: ICECandidate) {
    if held.count >= configuration.maximumRemoteCandidates { held.removeFirst() }
    held.append(candidate)
  }

  mutating func takeHeld() -> [ICECandidate] {
    defer { held = [] }
    return held
  }

  /// The candidates of this name, with their address.
  func resolved(name: String, address: IPAddress) -> [ICECandidate] {
    unresolved.compactMap { candidate in
      guard case .name(let other, let port) = candidate.address, other.lowercased() == name.lowercased() else {
        return nil
      }
      var resolved = candidate
      resolved.address = .ip(TransportAddress(ip: address, port: port))
      return resolved
    }
  }

  /// Adds a candidate of the current generation that the peer has named.
  mutating func add(_ candidate: ICECandidate, _ checkList: inout CheckList, now: Instant) -> Arrival {
    guard let address = candidate.transportAddress else {
      guard candidate.isMulticastDNSName, case .name(let name, let port) = candidate.address, port != 0,
        !unresolved.contains(where: { $0.address == candidate.address }),
        unresolved.count + known.count < configuration.maximumRemoteCandidates, admitSignalled(now: now)
      else { return .ignored }
      unresolved.append(candidate)
      return .unresolved(name: name)
    }
    guard address.isReachable else { return .ignored }
    if candidate.type == .relayed, !configuration.acceptsRelayedCandidates {
      // Checks may have come from it already.
      guard refused.count < configuration.maximumRemoteCandidates, refused.insert(address).inserted else {
        return .ignored
      }
      known.removeAll { $0.transportAddress == address }
      return .refused(address)
    }
    if let index = known.firstIndex(where: { $0.transportAddress == address }) {
      guard known[index].type == .peerReflexive else { return .ignored }
      known[index] = candidate
      return .replaced(address)
    }
    guard admitSignalled(now: now), makeRoom(&checkList) else { return .ignored }
    known.append(candidate)
    return .added
  }

  /// Whether the peer may name one more address; see `ICEConfiguration.signalledCandidateInterval`.
  private mutating func admitSignalled(now: Instant) -> Bool {
    guard let interval = configuration.signalledCandidateInterval else { return true }
    let next = max(paidUntil, now) + interval
    guard next - now <= interval * configuration.maximumRemoteCandidates else { return false }
    paidUntil = next
    return true
  }

  /// Learns a candidate from a check. RFC 8445 section 7.3.1.3.
  mutating func addPeerReflexive(
    _ address: TransportAddress, priority: UInt32, _ checkList: inout CheckList
  ) -> ICECandidate? {
    guard makeRoom(&checkList) else { return nil }
    let candidate = ICECandidate(
      foundation: ICECandidate.foundation(.peerReflexive, base: address.ip), priority: priority,
      address: .ip(address), type: .peerReflexive)
    known.append(candidate)
    return candidate
  }

  /// A peer-reflexive candidate whose checks go unanswered is gone (NAT rebinding); the peer's next check from there
  /// would restore it. Otherwise every silence would retry all addresses that the peer ever had.
  mutating func forgetDeadPeerReflexive(_ checkList: inout CheckList) {
    guard checkList.removeDeadPeerReflexivePairs() else { return }
    let alive = Set(checkList.pairs.map(\.remoteAddress))
    known.removeAll { candidate in
      candidate.type == .peerReflexive && !(candidate.transportAddress.map(alive.contains) ?? false)
    }
  }

  /// Whether one more fits, if need be by evicting the peer-reflexive candidate that was silent longest. Those that
  /// never answered a check go first: checks replayed from spoofed addresses create only such candidates.
  private mutating func makeRoom(_ checkList: inout CheckList) -> Bool {
    if known.count + unresolved.count < configuration.maximumRemoteCandidates { return true }
    let selected = checkList.selected?.remoteAddress
    var oldest: (address: TransportAddress, isProven: Bool, heard: Instant)?
    for candidate in known where candidate.type == .peerReflexive {
      guard let address = candidate.transportAddress, address != selected else { continue }
      let own = checkList.pairs.filter { $0.remoteAddress == address }
      let isProven = own.contains(where: \.isSucceeded)
      let heard = own.compactMap(\.lastHeard).max() ?? .zero
      if let oldest, (oldest.isProven ? 1 : 0, oldest.heard) <= (isProven ? 1 : 0, heard) { continue }
      oldest = (address, isProven, heard)
    }
    guard let oldest else { return false }
    known.removeAll { $0.transportAddress == oldest.address }
    let generation = checkList.generation
    checkList.remove { $0.remoteAddress == oldest.address && $0.generation == generation }
    return true
  }
}
