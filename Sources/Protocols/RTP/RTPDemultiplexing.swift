/// Tells RTP and RTCP on one port apart.
public enum RTPDemultiplexing {
  /// Whether a datagram that RFC 7983 sorts to RTP is RTCP: payload types 64...95 with the marker bit set are never
  /// given to RTP, so the second byte tells. RFC 5761 section 4. Works on protected packets: this byte is in the clear.
  public static func isRTCP(_ datagram: [UInt8]) -> Bool {
    datagram.count >= 2 && (192...223).contains(datagram[1])
  }
}
