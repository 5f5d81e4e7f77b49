/// Why a codec failed. The text is for a log.
public enum CodecError: Error, Hashable, Sendable {
  /// The library could not be set up: out of memory, or settings that it rejects.
  case setUp(String)
  /// The library rejected the data or a setting.
  case failed(String)
  /// The data is damaged; the codec can continue with the next.
  case corrupt(String)
  /// Intact, but of an unsupported kind.
  case unsupported(String)
  /// The picture's size differs from the one the codec or the pool was made for.
  case sizeMismatch(width: Int, height: Int)
}
