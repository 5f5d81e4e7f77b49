/// Why a file cannot be played.
public enum SoundFileError: Error, Hashable, Sendable, CustomStringConvertible {
  case notFound
  case permissionDenied
  /// A directory, a pipe, a device.
  case notARegularFile
  /// Larger than `SoundFile.maximumBytes`.
  case tooLarge
  /// Empty, or shorter than a second.
  case tooShort
  /// Neither WAV nor FLAC nor Ogg nor MP3.
  case unknownFormat
  /// It begins as a known format does, and the library cannot read it.
  case damaged
  /// A known format, but not as it is played; what it is.
  case unreadable(String)
  case io(errno: Int32)
  case libraryMissing

  public var description: String {
    switch self {
    case .notFound: "no such file"
    case .permissionDenied: "permission denied; let the daemon's user read it"
    case .notARegularFile: "not a regular file"
    case .tooLarge: "larger than 2 GiB"
    case .tooShort: "empty, or shorter than a second"
    case .unknownFormat: "neither WAV, FLAC, Ogg nor MP3"
    case .damaged: "damaged or incomplete, or a rare kind of its format"
    case .unreadable(let reason): reason
    case .io(let number): "cannot be read (errno \(number))"
    case .libraryMissing: "libsndfile is not installed (package libsndfile1)"
    }
  }
}
