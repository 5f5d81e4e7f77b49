/// Why a media section of an offer is not taken, for people.
public enum SectionRejection: Hashable, Sendable, CustomStringConvertible {
  /// No codec in common: those that the section lists, and ours.
  case noCodec(offered: [String], ours: [String])
  /// It does not share a transport with the sections that are taken. RFC 9143; RFC 9429 section 4.1.1 has the policy.
  case otherTransport
  /// RFC 5761: this end has no second port for RTCP.
  case noRTCPMux
  /// Neither DTLS-SRTP nor a WebRTC data channel.
  case unknownTransport(String)
  /// There is no track of this kind and direction, or each has a section already.
  case noTrack

  /// `its offer has H265 and AV1, not VP8 or H264`.
  public var description: String {
    switch self {
    case .noCodec(let offered, let ours):
      "its offer has \(offered.isEmpty ? "no codec" : offered.list("and")), not \(ours.list("or"))"
    case .otherTransport:
      "its offer puts each section on a transport of its own; bundle-policy=max-bundle puts all on one"
    case .noRTCPMux: "its offer has no rtcp-mux"
    case .unknownTransport(let name): "its offer has \(name), which is not WebRTC"
    case .noTrack: "there is nothing to send"
    }
  }
}

/// A section of the peer's offer that is rejected.
public struct RejectedMedia: Hashable, Sendable {
  /// The index of its `m=` section.
  public var index: Int
  public var kind: MediaKind
  /// What the peer would send and receive there, as the peer sees it.
  public var direction: MediaDirection
  public var reason: SectionRejection
}

extension [String] {
  /// `H264, H265 and AV1`.
  func list(_ conjunction: String) -> String {
    guard let last else { return "nothing" }
    return count == 1 ? last : dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }
}
