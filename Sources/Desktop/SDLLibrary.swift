internal import CSDL
internal import Glibc

/// SDL2, which is loaded when the first window is opened.
enum SDLLibrary {
  /// Nil where it is not installed.
  nonisolated(unsafe) fileprivate static let loaded = csdl_load()

  /// Loads it, unless it is there.
  static func load() throws(DesktopError) {
    guard loaded == nil else { return }
    let reason = dlerror().map { String(cString: $0) } ?? "it lacks a function"
    throw DesktopError(
      description: "a window needs SDL2 (on Debian: apt install libsdl2-2.0-0; \(reason)); the terminal shows the rest")
  }
}

/// SDL2's functions, after `SDLLibrary.load`.
var sdl: UnsafePointer<csdl_library> { SDLLibrary.loaded! }
