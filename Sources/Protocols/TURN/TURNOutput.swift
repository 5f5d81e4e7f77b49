public import Wire

/// What a client has for its owner, in order.
public enum TURNOutput: Hashable, Sendable {
  /// For the server: one datagram, or bytes of the stream.
  case transmit([UInt8])
  /// The allocation is made. `mapped` is our own address as the server sees it: a server-reflexive candidate if the server
  /// is reached over UDP.
  case allocated(relayed: TransportAddress, mapped: TransportAddress)
  /// A datagram of a peer that has been permitted.
  case received([UInt8], from: TransportAddress)
  /// The server does not relay to this peer, by its rules (403) or for the reason of the code. What waited for it is
  /// dropped.
  case peerRefused(TransportAddress, code: Int)
  /// Half of the credentials' time is over. To change without a gap, get new ones, make another allocation with them from a
  /// socket of its own, permit `peersInUse` there, and close this one when nothing comes over it any more. Told once.
  case renewalDue
  /// It is over, and nothing follows.
  case ended(TURNFailure)
}
