internal import Glibc

/// How the media socket's packets are marked (DSCP, RFC 2474), for routers and access points that have queues to choose
/// from.
public enum MediaMarking: Sendable {
  /// AF42 for everything on the socket: sound, pictures, data channel and the checks.
  ///
  /// RFC 8837 section 5 has a row for interactive video with or without sound: AF42 at its medium priority. EF is for sound
  /// that goes alone. Here both go between the same two ports, under one congestion control, and RFC 7657 section 6 wants
  /// one treatment for that: packets in several queues overtake each other, and the delay that is measured is then none
  /// of theirs. Checks carry the same mark by RFC 8445 section 7.2.3. Wi-Fi then uses its queue for video (RFC 8325
  /// section 4.2), which gets the air before the files and updates of others.
  case interactiveVideo
  /// The default treatment.
  case none

  /// The six bits. RFC 2597 section 6.
  var codePoint: UInt8 {
    switch self {
    case .interactiveVideo: 36
    case .none: 0
    }
  }

  /// Marks what the socket sends, for both families: ip(7), IP_TOS, also for the IPv4 peers of a dual-stack socket, and
  /// ipv6(7), IPV6_TCLASS. For the socket as a whole, so that it costs nothing for a packet. A system that refuses sends
  /// unmarked packets, which arrive as well.
  func apply(to descriptor: Int32, isIPv6: Bool) {
    guard self != .none else { return }
    // The two bits below are for congestion notification.
    var value = Int32(codePoint) << 2
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, Int32(IPPROTO_IP), IP_TOS, &value, size)
    if isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_TCLASS, &value, size) }
  }
}
