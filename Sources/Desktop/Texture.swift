internal import CSDL

/// A texture of a renderer.
final class Texture {
  let handle: OpaquePointer
  let width: Int
  let height: Int

  init?(_ renderer: OpaquePointer, format: UInt32, access: SDL_TextureAccess, width: Int, height: Int) {
    guard
      let handle = sdl.pointee.CreateTexture(
        renderer, format, Int32(access.rawValue), Int32(clamping: width), Int32(clamping: height))
    else { return nil }
    self.handle = handle
    self.width = width
    self.height = height
  }

  deinit { sdl.pointee.DestroyTexture(handle) }
}
