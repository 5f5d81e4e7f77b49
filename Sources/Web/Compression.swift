internal import CZlib

extension WebPages {
  /// The bytes of `content`, in the gzip format (RFC 1952); nil if that is not shorter, as for pictures.
  ///
  /// Made for all files when the first one is asked for: some ten milliseconds on a small board.
  public static func compressed(_ name: String) -> [UInt8]? { compressedContents[name] }

  private static let compressedContents: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for name in names {
      if let content = content(name), let shorter = gzip(content) { files[name] = shorter }
    }
    return files
  }()

  private static func gzip(_ content: [UInt8]) -> [UInt8]? {
    let shorter = [UInt8](unsafeUninitializedCapacity: content.count) { buffer, count in
      count = czlib_gzip(content, content.count, buffer.baseAddress, content.count)
    }
    return shorter.isEmpty ? nil : shorter
  }
}
