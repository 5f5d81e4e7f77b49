internal import CSDL
internal import Frames
internal import Picture
internal import Wire

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

/// Lines of text as white textures, to be coloured when they are drawn. Kept while they are in use.
struct TextTextures {
  private struct Key: Hashable {
    var text: String
    var scale: Int
  }

  private var kept: [Key: Texture] = [:]
  /// More than a window shows at once; then all are made again.
  private static let maximum = 96

  mutating func forget() { kept = [:] }

  /// Nil for an empty text, or when there is no memory.
  mutating func texture(_ text: String, scale: Int, renderer: OpaquePointer) -> Texture? {
    let key = Key(text: text, scale: scale)
    if let known = kept[key] { return known }
    if kept.count >= Self.maximum { kept = [:] }
    let made = Self.make(text, TextRenderer(scale: scale), renderer)
    kept[key] = made
    return made
  }

  private static func make(_ text: String, _ font: TextRenderer, _ renderer: OpaquePointer) -> Texture? {
    // What is wider than every screen is cut.
    let (width, height) = (min(font.width(of: text), 8192), font.lineHeight)
    guard width > 0 else { return nil }
    let ink = VideoFramePool(width: width, height: height).makeFrame(captureTime: Instant(nanoseconds: 0), sequence: 0)
    let canvas = Canvas(ink)
    canvas.fillLuma(x: 0, y: 0, width: ink.width, height: ink.height, 0)
    font.draw(text, x: 0, y: 0, luma: 255, on: canvas)
    guard
      let texture = Texture(
        renderer, format: CSDL_ARGB8888, access: SDL_TEXTUREACCESS_STATIC, width: ink.width, height: ink.height)
    else { return nil }
    var pixels: [UInt32] = []
    pixels.reserveCapacity(ink.width * ink.height)
    for row in 0..<ink.height {
      for column in 0..<ink.width {
        pixels.append(UInt32(ink.y[row * ink.strideY + column]) << 24 | 0xff_ffff)
      }
    }
    _ = sdl.pointee.UpdateTexture(texture.handle, nil, pixels, Int32(clamping: ink.width * 4))
    _ = sdl.pointee.SetTextureBlendMode(texture.handle, SDL_BLENDMODE_BLEND)
    _ = sdl.pointee.SetTextureScaleMode(texture.handle, SDL_ScaleModeNearest)
    return texture
  }
}
