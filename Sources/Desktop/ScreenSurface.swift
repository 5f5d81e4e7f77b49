internal import CSDL
internal import Storage

/// The window and its renderer.
struct ScreenSurface: ~Copyable {
  let window: OpaquePointer
  let renderer: OpaquePointer

  /// A hidden window. SDL's video has to be running.
  init(title: String, place: WindowPlace?, size: (width: Int, height: Int)) throws(DesktopError) {
    guard
      let window = sdl.pointee.CreateWindow(
        title, Int32(clamping: place?.x ?? Int(CSDL_CENTERED)), Int32(clamping: place?.y ?? Int(CSDL_CENTERED)),
        Int32(clamping: place?.width ?? size.width), Int32(clamping: place?.height ?? size.height), CSDL_WINDOW_FLAGS)
    else { throw DesktopError("the window cannot be opened") }
    // Without vertical synchronisation: a picture is shown when it is there, not up to a frame of the display later.
    guard
      let renderer = sdl.pointee.CreateRenderer(window, -1, 0)
        ?? sdl.pointee.CreateRenderer(window, -1, CSDL_RENDERER_SOFTWARE)
    else {
      sdl.pointee.DestroyWindow(window)
      throw DesktopError("nothing can be drawn into a window")
    }
    self.window = window
    self.renderer = renderer
  }

  deinit {
    sdl.pointee.DestroyRenderer(renderer)
    sdl.pointee.DestroyWindow(window)
  }

  /// Pixels to draw on.
  var size: (width: Int, height: Int) {
    var (width, height): (Int32, Int32) = (0, 0)
    _ = sdl.pointee.GetRendererOutputSize(renderer, &width, &height)
    return (Int(width), Int(height))
  }

  /// What lies at a point of the window's own coordinates; a dense screen has several pixels for each.
  func pixel(x: Int, y: Int) -> (x: Int, y: Int) {
    let (size, place) = (size, place)
    guard place.width > 0, place.height > 0 else { return (x, y) }
    return (x * size.width / place.width, y * size.height / place.height)
  }

  /// In the desktop's coordinates.
  var place: WindowPlace {
    get {
      var (x, y, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
      sdl.pointee.GetWindowPosition(window, &x, &y)
      sdl.pointee.GetWindowSize(window, &width, &height)
      return WindowPlace(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    }
    nonmutating set {
      sdl.pointee.SetWindowSize(window, Int32(clamping: newValue.width), Int32(clamping: newValue.height))
      move(to: newValue)
    }
  }

  func move(to place: WindowPlace) {
    sdl.pointee.SetWindowPosition(window, Int32(clamping: place.x), Int32(clamping: place.y))
  }

  var flags: UInt32 { sdl.pointee.GetWindowFlags(window) }
  var isHidden: Bool { flags & (CSDL_WINDOW_MINIMIZED | CSDL_WINDOW_HIDDEN) != 0 }

  /// What of each screen is free of panels.
  static var screens: [WindowPlace] {
    (0..<max(0, sdl.pointee.GetNumVideoDisplays())).compactMap { index in
      var area = SDL_Rect()
      guard sdl.pointee.GetDisplayUsableBounds(index, &area) == 0 else { return nil }
      return WindowPlace(x: Int(area.x), y: Int(area.y), width: Int(area.w), height: Int(area.h))
    }
  }

  static var pointer: (x: Int, y: Int) {
    var (x, y): (Int32, Int32) = (0, 0)
    _ = sdl.pointee.GetGlobalMouseState(&x, &y)
    return (Int(x), Int(y))
  }
}
