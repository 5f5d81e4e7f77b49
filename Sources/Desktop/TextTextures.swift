internal import CPango
internal import CSDL
internal import Glibc

/// A text and how it is set.
struct TextLine: Hashable {
  var text: String
  /// Of the font, pixels.
  var size: Int
  var isBold = false
  /// Where lines break, pixels; they are centred in it then. Nil: one line, as wide as it is.
  var room: Int?
}

/// Texts as white textures, to be coloured when they are drawn. Kept while they are in use.
struct TextTextures {
  private var kept: [TextLine: Texture] = [:]
  /// More than a window shows at once; then all are made again.
  private static let maximum = 96

  mutating func forget() { kept = [:] }

  /// Nil for an empty text, or when there is no memory.
  mutating func texture(_ line: TextLine, renderer: OpaquePointer) -> Texture? {
    if let known = kept[line] { return known }
    if kept.count >= Self.maximum { kept = [:] }
    let made = Self.make(line, renderer)
    kept[line] = made
    return made
  }

  private static func make(_ line: TextLine, _ renderer: OpaquePointer) -> Texture? {
    var (width, height): (Int32, Int32) = (0, 0)
    guard
      let pixels = cpango_draw(
        pango, line.text, Double(line.size), line.isBold ? 1 : 0, line.room.map(Int32.init(clamping:)) ?? -1,
        line.room == nil ? 0 : 1, &width, &height)
    else { return nil }
    defer { free(pixels) }
    guard
      let texture = Texture(
        renderer, format: CSDL_ARGB8888, access: SDL_TEXTUREACCESS_STATIC, width: Int(width), height: Int(height))
    else { return nil }
    _ = sdl.pointee.UpdateTexture(texture.handle, nil, pixels, width * 4)
    _ = sdl.pointee.SetTextureBlendMode(texture.handle, SDL_BLENDMODE_BLEND)
    return texture
  }
}
