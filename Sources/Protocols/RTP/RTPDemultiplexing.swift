/// Distinguishes RTP and RTCP on one port.
public enum RTPDemultiplexing {
  /// Whether a datagram in the RTP range of RFC 7983 is RTCP: RTP never uses payload types 64...95 with the marker bit
  /// set, so the second byte decides. RFC 5761 section 4. Works on protected packets: this byte is in the clear.
  public static func isRTCP(_ datagram: [UInt8]) -> Bool {
    datagram.count >= 2 && (192...223).contains(datagram[1])
  }
}
