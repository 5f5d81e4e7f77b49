internal import CPango
internal import CSDL
internal import Glibc

/// SDL2 and Pango, which are loaded when the first window is opened.
enum DesktopLibraries {
  /// Nil where it is not installed.
  nonisolated(unsafe) fileprivate static let loaded = csdl_load()
  nonisolated(unsafe) fileprivate static let text = cpango_load()

  /// Loads them, unless they are there.
  static func load() throws(DesktopError) {
    if loaded == nil { throw missing("SDL2", package: "libsdl2-2.0-0") }
    try loadText()
  }

  /// Loads what draws text, and no more.
  static func loadText() throws(DesktopError) {
    if text == nil { throw missing("Pango", package: "libpangocairo-1.0-0") }
  }

  private static func missing(_ name: String, package: String) -> DesktopError {
    let reason = dlerror().map { String(cString: $0) } ?? "it lacks a function"
    return DesktopError(
      description: "a window needs \(name) (on Debian: apt install \(package); \(reason)); the terminal shows the rest")
  }
}

/// SDL2's functions, after `DesktopLibraries.load`.
var sdl: UnsafePointer<csdl_library> { DesktopLibraries.loaded! }

/// Pango's and Cairo's functions, after `DesktopLibraries.load`.
var pango: UnsafePointer<cpango_library> { DesktopLibraries.text! }
