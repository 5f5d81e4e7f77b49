internal import CSDL

/// Why there is no window.
public struct DesktopError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String

  /// With what SDL says about its last failure.
  init(_ what: String) {
    let reason = SDL_GetError().map { String(cString: $0) } ?? ""
    description = reason.isEmpty ? what : "\(what): \(reason)"
  }
}
