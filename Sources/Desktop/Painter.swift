internal import CSDL
internal import Frames
internal import Storage

/// Draws the picture and what stands over it.
struct Painter {
  struct Colour {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    static let background = Colour(red: 21, green: 17, blue: 14)
    static let text = Colour(red: 222, green: 208, blue: 186)
    static let faint = Colour(red: 150, green: 138, blue: 120)
    static let gold = Colour(red: 219, green: 168, blue: 96)
    static let good = Colour(red: 126, green: 178, blue: 110)
    static let alarm = Colour(red: 214, green: 58, blue: 46)
  }

  let renderer: OpaquePointer
  private var texts = TextTextures()
  private var picture: Texture?
  /// Pixels of the window, of this drawing.
  private var area = (width: 0, height: 0)

  init(renderer: OpaquePointer) {
    self.renderer = renderer
  }

  /// Everything has to be uploaded again.
  mutating func forget() {
    texts.forget()
    picture = nil
  }

  /// The picture's pixels go to the graphics memory; it converts the colours and scales.
  mutating func upload(_ frame: VideoFrame) {
    if picture?.width != frame.width || picture?.height != frame.height {
      picture = Texture(
        renderer, format: CSDL_IYUV, access: SDL_TEXTUREACCESS_STREAMING, width: frame.width, height: frame.height)
      if let picture { _ = sdl.pointee.SetTextureScaleMode(picture.handle, SDL_ScaleModeLinear) }
    }
    guard let picture else { return }
    _ = sdl.pointee.UpdateYUVTexture(
      picture.handle, nil, frame.y, Int32(clamping: frame.strideY), frame.u, Int32(clamping: frame.strideUV), frame.v,
      Int32(clamping: frame.strideUV))
  }

  /// - Parameters:
  ///   - age: seconds since the last picture, when it is no longer a live one.
  ///   - isBright: the phase of a ringing alarm's frame.
  mutating func draw(
    _ content: WindowContent, size: (width: Int, height: Int), age: Int?, showsLine: Bool, showsHelp: Bool,
    isBright: Bool
  ) {
    area = size
    fill(x: 0, y: 0, width: size.width, height: size.height, .background)
    if let picture {
      let place = WindowGeometry.letterbox(width: picture.width, height: picture.height, in: size)
      var target = SDL_Rect(place)
      let light: UInt8 = age == nil ? 255 : 80
      _ = sdl.pointee.SetTextureColorMod(picture.handle, light, light, light)
      _ = sdl.pointee.RenderCopy(renderer, picture.handle, nil, &target)
    }
    let scale = Self.scale(size)
    let barHeight = showsLine ? 15 * scale : 0
    if showsHelp {
      drawHelp(content.help, scale: scale)
    } else if let banner = content.banner {
      drawBanner(banner, age: age, scale: scale)
    } else if let age {
      drawCentred([Self.text(age: age)], y: size.height / 2 - 11 * scale, scale: scale * 2, .text)
    } else if picture == nil {
      drawCentred(content.waiting, y: size.height / 2 - 11 * scale, scale: scale, .faint)
    }
    if content.isRinging { drawFrame(isBright ? 6 : 2, scale: scale) }
    if showsLine { drawLine(content, height: barHeight, scale: scale) }
    sdl.pointee.RenderPresent(renderer)
  }

  /// Screen pixels for each of the font's.
  static func scale(_ size: (width: Int, height: Int)) -> Int {
    if size.width < 420 { return 1 }
    return max(2, min(size.width / 480, size.height / 270))
  }

  /// `12 s old`, `3 min old`.
  static func text(age: Int) -> String {
    switch age {
    case ..<120: "\(age) s old"
    case ..<7200: "\(age / 60) min old"
    default: "\(age / 3600) h old"
    }
  }

  // MARK: Parts

  private mutating func drawLine(_ content: WindowContent, height: Int, scale: Int) {
    let top = area.height - height
    fill(x: 0, y: top, width: area.width, height: height, .background, opacity: 200)
    let baseline = top + (height - 8 * scale) / 2
    var x = 5 * scale
    let mark: Colour =
      switch content.tone {
      case .good: .good
      case .waiting: .gold
      case .bad: .alarm
      }
    fill(x: x, y: baseline, width: 7 * scale, height: 7 * scale, mark)
    x += 12 * scale
    if let level = content.meterDb {
      drawMeter(level, x: x, y: baseline, scale: scale)
      x += (Self.meterSteps * 4 + 6) * scale
    }
    // What was said just now comes first: it is why the line was shown.
    let parts = [content.said].compactMap(\.self) + content.parts
    for (index, part) in parts.enumerated() {
      let width = part.count * 6 * scale
      guard x + width <= area.width - 4 * scale else { break }
      let isSaid = content.said != nil && index == 0
      x += draw(part, x: x, y: baseline, scale: scale, isSaid ? .gold : .text) + 12 * scale
    }
  }

  private static let meterSteps = 12

  /// Steps of 5 dB from -60 on.
  private func drawMeter(_ level: Double, x: Int, y: Int, scale: Int) {
    for step in 0..<Self.meterSteps {
      let isLit = level >= -60 + Double(step) * 5
      let colour: Colour = !isLit ? .faint : step < 7 ? .good : step < 10 ? .gold : .alarm
      let height = isLit ? 7 * scale : scale
      fill(x: x + step * 4 * scale, y: y + 7 * scale - height, width: 3 * scale, height: height, colour)
    }
  }

  private mutating func drawBanner(_ banner: WindowContent.Banner, age: Int?, scale: Int) {
    let room = area.width - 24 * scale
    let large = banner.title.count * 12 * scale <= room ? scale * 2 : scale
    var lines = banner.lines
    if let age { lines.insert("The picture is \(Self.text(age: age)).", at: 0) }
    let wrapped = lines.flatMap { Self.wrap($0, columns: room / (6 * scale)) }
    let height = 11 * large + 12 * scale * wrapped.count + 14 * scale
    let top = max(0, (area.height - height) / 2)
    fill(x: 0, y: top, width: area.width, height: height, .background, opacity: 225)
    let edge: Colour = banner.isAlarm ? .alarm : .gold
    fill(x: 0, y: top, width: area.width, height: scale, edge)
    fill(x: 0, y: top + height - scale, width: area.width, height: scale, edge)
    var y = top + 7 * scale
    drawCentred([banner.title], y: y, scale: large, banner.isAlarm ? .alarm : .gold)
    y += 11 * large + 2 * scale
    for line in wrapped {
      drawCentred([line], y: y, scale: scale, .text)
      y += 12 * scale
    }
  }

  private mutating func drawHelp(_ rows: [WindowContent.HelpRow], scale wanted: Int) {
    var scale = wanted
    let keys = rows.map(\.key.count).max() ?? 0
    let columns = keys + 2 + (rows.map(\.meaning.count).max() ?? 0)
    while scale > 1, (columns * 6 + 24) * scale > area.width || (rows.count * 12 + 16) * scale > area.height {
      scale -= 1
    }
    let (width, height) = ((columns * 6 + 20) * scale, (rows.count * 12 + 16) * scale)
    let (left, top) = (max(0, (area.width - width) / 2), max(0, (area.height - height) / 2))
    fill(x: left, y: top, width: width, height: height, .background, opacity: 235)
    var y = top + 9 * scale
    for row in rows {
      _ = draw(row.key, x: left + 10 * scale, y: y, scale: scale, .gold)
      _ = draw(row.meaning, x: left + (10 + (keys + 2) * 6) * scale, y: y, scale: scale, .text)
      y += 12 * scale
    }
  }

  private func drawFrame(_ thickness: Int, scale: Int) {
    let width = thickness * scale
    fill(x: 0, y: 0, width: area.width, height: width, .alarm)
    fill(x: 0, y: area.height - width, width: area.width, height: width, .alarm)
    fill(x: 0, y: 0, width: width, height: area.height, .alarm)
    fill(x: area.width - width, y: 0, width: width, height: area.height, .alarm)
  }

  // MARK: Text and rectangles

  /// At spaces, as far as that goes.
  static func wrap(_ text: String, columns: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= columns {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  private mutating func drawCentred(_ lines: [String], y: Int, scale: Int, _ colour: Colour) {
    var y = y
    for line in lines.flatMap({ Self.wrap($0, columns: max(1, (area.width - 4 * scale) / (6 * scale))) }) {
      let width = line.count * 6 * scale - scale
      _ = draw(line, x: max(0, (area.width - width) / 2), y: y, scale: scale, colour)
      y += 12 * scale
    }
  }

  /// Returns the width.
  private mutating func draw(_ text: String, x: Int, y: Int, scale: Int, _ colour: Colour) -> Int {
    guard let texture = texts.texture(text, scale: scale, renderer: renderer) else { return 0 }
    _ = sdl.pointee.SetTextureColorMod(texture.handle, colour.red, colour.green, colour.blue)
    var target = SDL_Rect(WindowPlace(x: x, y: y, width: texture.width, height: texture.height))
    _ = sdl.pointee.RenderCopy(renderer, texture.handle, nil, &target)
    return texture.width
  }

  private func fill(x: Int, y: Int, width: Int, height: Int, _ colour: Colour, opacity: UInt8 = 255) {
    _ = sdl.pointee.SetRenderDrawBlendMode(renderer, opacity == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND)
    _ = sdl.pointee.SetRenderDrawColor(renderer, colour.red, colour.green, colour.blue, opacity)
    var rectangle = SDL_Rect(WindowPlace(x: x, y: y, width: width, height: height))
    _ = sdl.pointee.RenderFillRect(renderer, &rectangle)
  }
}

extension SDL_Rect {
  init(_ place: WindowPlace) {
    self.init(
      x: Int32(clamping: place.x), y: Int32(clamping: place.y), w: Int32(clamping: place.width),
      h: Int32(clamping: place.height))
  }
}
