/// Why a file cannot be played.
public enum SoundFileError: Error, Hashable, Sendable, CustomStringConvertible {
  case notFound
  case permissionDenied
  /// A directory, a pipe, a device.
  case notARegularFile
  /// Larger than `SoundFile.maximumBytes`.
  case tooLarge
  /// Neither WAV nor FLAC nor Ogg nor MP3.
  case unknownFormat
  /// A known format, but damaged or not supported; the library's message.
  case unreadable(String)
  case io(errno: Int32)
  case libraryMissing

  public var description: String {
    switch self {
    case .notFound: "no such file"
    case .permissionDenied: "permission denied; let the daemon's user read it"
    case .notARegularFile: "not a regular file"
    case .tooLarge: "larger than 2 GiB"
    case .unknownFormat: "neither WAV, FLAC, Ogg nor MP3"
    case .unreadable(let reason): reason
    case .io(let number): "cannot be read (errno \(number))"
    case .libraryMissing: "libsndfile is not installed (package libsndfile1)"
    }
  }
}
