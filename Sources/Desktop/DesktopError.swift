internal import CSDL

/// Why there is no window.
public struct DesktopError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String

  init(description: String) { self.description = description }

  /// With what SDL says about its last failure.
  init(_ what: String) {
    let reason = sdl.pointee.GetError().map { String(cString: $0) } ?? ""
    description = reason.isEmpty ? what : "\(what): \(reason)"
  }
}
