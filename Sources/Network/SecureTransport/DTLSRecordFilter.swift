/// Drops records that OpenSSL should ignore on an established connection. Debian 12's versions before 3.0.22 end the
/// connection for either kind instead, and anybody can forge them. RFC 6347 section 4.1.2.7.
struct DTLSRecordFilter {
  /// The bytes the cipher adds to each record: nonce and tag. RFC 5288 section 3, RFC 7905 section 2.
  let overhead: Int

  private static let headerBytes = 13
  private static let changeCipherSpec: UInt8 = 20
  private static let handshake: UInt8 = 22

  /// The datagram without unencrypted alerts and application data, and without records too short for the cipher.
  /// Unencrypted handshake records may still arrive, if the last flight was lost. Anything after a malformed record is
  /// dropped too.
  func admit(_ datagram: [UInt8]) -> [UInt8] {
    guard var position = firstForbidden(in: datagram) else { return datagram }
    var kept = Array(datagram[..<position])
    while let record = record(in: datagram, at: position) {
      if !isForbidden(datagram, record) { kept += datagram[record] }
      position = record.upperBound
    }
    return kept
  }

  private func firstForbidden(in datagram: [UInt8]) -> Int? {
    var position = 0
    while let record = record(in: datagram, at: position) {
      if isForbidden(datagram, record) { return position }
      position = record.upperBound
    }
    return nil
  }

  private func record(in datagram: [UInt8], at position: Int) -> Range<Int>? {
    guard position + Self.headerBytes <= datagram.count else { return nil }
    let length = Int(datagram[position + 11]) << 8 | Int(datagram[position + 12])
    let end = position + Self.headerBytes + length
    return end <= datagram.count ? position..<end : nil
  }

  /// Type in byte 0, epoch in bytes 3 and 4.
  private func isForbidden(_ datagram: [UInt8], _ record: Range<Int>) -> Bool {
    let start = record.lowerBound
    let isClearText = datagram[start + 3] == 0 && datagram[start + 4] == 0
    let type = datagram[start]
    return isClearText
      ? type != Self.changeCipherSpec && type != Self.handshake : record.count < Self.headerBytes + overhead
  }
}
