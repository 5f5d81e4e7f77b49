/// Why a codec could not do its work. The text is for a log.
public enum CodecError: Error, Hashable, Sendable {
  /// The library could not be set up: out of memory, or settings that it refuses.
  case setUp(String)
  /// The library refused the data or a setting.
  case failed(String)
  /// The data is damaged; the codec goes on with the next.
  case corrupt(String)
  /// Whole, but of a kind that we do not take.
  case unsupported(String)
  /// The picture has another size than the codec or the pool was made for.
  case sizeMismatch(width: Int, height: Int)
}
