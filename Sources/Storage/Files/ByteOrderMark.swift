extension [UInt8] {
  /// UTF-8 text without the mark in front that some editors write. RFC 3629 section 6.
  var withoutByteOrderMark: [UInt8] {
    starts(with: [0xef, 0xbb, 0xbf]) ? Array(dropFirst(3)) : self
  }
}
