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
  private var pointer: (x: Int, y: Int)?
  /// The buttons of the last drawing, pixels.
  private(set) var targets: [(place: WindowPlace, does: Target)] = []

  /// What a button does.
  enum Target: Hashable {
    case key(Character)
    case stay, leave
  }

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

  /// What lies over the picture besides the content's own.
  struct Overlay {
    /// Seconds since the last picture, when it is no longer a live one.
    var age: Int?
    var showsLine = false
    var showsButtons = false
    var showsHelp = false
    var question: WindowContent.Question?
    /// The phase of a ringing alarm's frame.
    var isBright = false
    /// Pixels.
    var pointer: (x: Int, y: Int)?
  }

  mutating func draw(_ content: WindowContent, _ overlay: Overlay, size: (width: Int, height: Int)) {
    area = size
    pointer = overlay.pointer
    targets = []
    fill(x: 0, y: 0, width: size.width, height: size.height, .background)
    if let picture {
      let place = WindowGeometry.letterbox(width: picture.width, height: picture.height, in: size)
      var target = SDL_Rect(place)
      let light: UInt8 = overlay.age == nil ? 255 : 80
      _ = sdl.pointee.SetTextureColorMod(picture.handle, light, light, light)
      _ = sdl.pointee.RenderCopy(renderer, picture.handle, nil, &target)
    }
    let scale = Self.scale(size)
    let frame = content.isRinging ? (overlay.isBright ? 6 : 2) * scale : 0
    if frame > 0 { drawFrame(frame) }
    if let question = overlay.question {
      drawQuestion(question, scale: scale)
    } else if overlay.showsHelp {
      drawHelp(content.help, scale: scale)
    } else if let banner = content.banner {
      drawBanner(banner, age: overlay.age, scale: scale)
    } else if let age = overlay.age {
      drawCentred([Self.text(age: age)], scale: scale * 2, .text)
    } else if picture == nil {
      drawCentred(content.waiting, scale: scale, .faint)
    }
    // Within the frame, whose thickness changes.
    let bottom = size.height - (content.isRinging ? 6 * scale : 0)
    let lineHeight = overlay.showsLine ? 16 * scale : 0
    if overlay.showsLine { drawLine(content, top: bottom - lineHeight, height: lineHeight, scale: scale) }
    if overlay.showsButtons, overlay.question == nil, !overlay.showsHelp {
      drawButtons(content.buttons, bottom: bottom - lineHeight - 6 * scale, scale: scale)
    }
    sdl.pointee.RenderPresent(renderer)
  }

  /// Pixels of the window for what is one in a window of 480 x 270.
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

  private mutating func drawLine(_ content: WindowContent, top: Int, height: Int, scale: Int) {
    fill(x: 0, y: top, width: area.width, height: height, .background, opacity: 200)
    let middle = top + height / 2
    var x = 5 * scale
    let mark: Colour =
      switch content.tone {
      case .good: .good
      case .waiting: .gold
      case .bad: .alarm
      }
    fill(x: x, y: middle - 3 * scale, width: 7 * scale, height: 7 * scale, mark)
    x += 12 * scale
    if let level = content.meterDb {
      drawMeter(level, x: x, y: middle - 4 * scale, scale: scale)
      x += (Self.meterSteps * 4 + 6) * scale
    }
    // What was said just now comes first: it is why the line was shown.
    let parts = [content.said].compactMap(\.self) + content.parts
    for (index, part) in parts.enumerated() {
      guard let text = texture(part, Self.size(scale)) else { continue }
      guard x + text.width <= area.width - 4 * scale || index == 0 else { break }
      let isSaid = content.said != nil && index == 0
      draw(text, x: x, y: middle - text.height / 2, isSaid ? .gold : .text)
      x += text.width + 10 * scale
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
    var lines = banner.lines
    if let age { lines.insert("The picture is \(Self.text(age: age)).", at: 0) }
    let colour: Colour = banner.isAlarm ? .alarm : .gold
    let buttons = banner.button.map { [(title: $0.title, isMain: true, does: Target.key($0.key))] } ?? []
    drawPanel(banner.title, lines, buttons, edge: colour, scale: scale)
  }

  private mutating func drawQuestion(_ question: WindowContent.Question, scale: Int) {
    let buttons = [(title: question.stay, isMain: true, does: Target.stay), (question.leave, false, .leave)]
    drawPanel(question.text, [], buttons, edge: .gold, scale: scale)
  }

  /// Across the whole width, in the middle: a title, sentences, buttons.
  private mutating func drawPanel(
    _ title: String, _ lines: [String], _ buttons: [(title: String, isMain: Bool, does: Target)], edge: Colour,
    scale: Int
  ) {
    let room = max(1, area.width - 24 * scale)
    // On one line, if it fits so.
    let large = texture(title, Self.size(scale * 2), isBold: true).map { $0.width <= room } == true ? scale * 2 : scale
    let texts =
      [texture(title, Self.size(large), isBold: true, room: room)]
      + lines.map { texture($0, Self.size(scale), room: room) }
    let between = 3 * scale
    var height = 14 * scale + texts.reduce(0) { $0 + ($1.map { $0.height + between } ?? 0) }
    let buttonScale = buttons.count == 1 ? large : scale
    if !buttons.isEmpty { height += 26 * buttonScale }
    let top = max(0, (area.height - height) / 2)
    fill(x: 0, y: top, width: area.width, height: height, .background, opacity: 225)
    fill(x: 0, y: top, width: area.width, height: scale, edge)
    fill(x: 0, y: top + height - scale, width: area.width, height: scale, edge)
    var y = top + 7 * scale
    for (index, text) in texts.enumerated() {
      guard let text else { continue }
      draw(text, x: (area.width - text.width) / 2, y: y, index == 0 ? edge : .text)
      y += text.height + between
    }
    drawRow(
      buttons.map { ($0.title, $0.isMain ? edge : .faint, $0.does) }, bottom: top + height - 7 * scale,
      height: 22 * buttonScale, scale: buttonScale)
  }

  private mutating func drawButtons(_ buttons: [WindowContent.Button], bottom: Int, scale: Int) {
    // The small window is dragged by its picture.
    guard area.width >= 420 else { return }
    drawRow(
      buttons.map { ($0.title, $0.isOn ? .gold : .faint, .key($0.key)) }, bottom: bottom, height: 18 * scale,
      scale: scale)
  }

  /// Buttons side by side in the middle; those that do not fit are left out.
  private mutating func drawRow(
    _ buttons: [(title: String, edge: Colour, does: Target)], bottom: Int, height: Int, scale: Int
  ) {
    let (padding, between) = (8 * scale, 4 * scale)
    var row: [(text: Texture, edge: Colour, does: Target)] = []
    var width = -between
    for button in buttons {
      guard let text = texture(button.title, Self.size(scale), isBold: true) else { continue }
      guard width + between + text.width + 2 * padding <= area.width else { break }
      width += between + text.width + 2 * padding
      row.append((text, button.edge, button.does))
    }
    var x = (area.width - width) / 2
    for (text, edge, does) in row {
      let place = WindowPlace(x: x, y: bottom - height, width: text.width + 2 * padding, height: height)
      let isPointed = pointer.map { place.contains(x: $0.x, y: $0.y) } == true
      fill(place, edge)
      if !isPointed { fill(place.inset(by: scale), .background) }
      draw(
        text, x: x + padding, y: place.y + (height - text.height) / 2, isPointed ? .background : .text)
      targets.append((place, does))
      x += place.width + between
    }
  }

  private mutating func drawHelp(_ rows: [WindowContent.HelpRow], scale wanted: Int) {
    var scale = wanted
    var texts: [(key: Texture?, meaning: Texture?)] = []
    var (keys, meanings, height) = (0, 0, 0)
    repeat {
      texts = rows.map { (texture($0.key, Self.size(scale), isBold: true), texture($0.meaning, Self.size(scale))) }
      keys = texts.map { $0.key?.width ?? 0 }.max() ?? 0
      meanings = texts.map { $0.meaning?.width ?? 0 }.max() ?? 0
      height = 13 * scale * rows.count + 16 * scale
      guard keys + meanings + 32 * scale > area.width || height > area.height, scale > 1 else { break }
      scale -= 1
    } while true
    let width = keys + meanings + 32 * scale
    let (left, top) = (max(0, (area.width - width) / 2), max(0, (area.height - height) / 2))
    fill(x: left, y: top, width: width, height: height, .background, opacity: 235)
    var y = top + 8 * scale
    for (key, meaning) in texts {
      if let key { draw(key, x: left + 10 * scale, y: y, .gold) }
      if let meaning { draw(meaning, x: left + keys + 22 * scale, y: y, .text) }
      y += 13 * scale
    }
  }

  private func drawFrame(_ width: Int) {
    fill(x: 0, y: 0, width: area.width, height: width, .alarm)
    fill(x: 0, y: area.height - width, width: area.width, height: width, .alarm)
    fill(x: 0, y: 0, width: width, height: area.height, .alarm)
    fill(x: area.width - width, y: 0, width: width, height: area.height, .alarm)
  }

  // MARK: Text and rectangles

  /// Of the font, pixels.
  private static func size(_ scale: Int) -> Int { 9 * scale }

  private mutating func texture(_ text: String, _ size: Int, isBold: Bool = false, room: Int? = nil) -> Texture? {
    texts.texture(TextLine(text: text, size: size, isBold: isBold, room: room), renderer: renderer)
  }

  private mutating func drawCentred(_ lines: [String], scale: Int, _ colour: Colour) {
    let room = max(1, area.width - 4 * scale)
    let texts = lines.compactMap { texture($0, Self.size(scale), room: room) }
    var y = (area.height - texts.reduce(0) { $0 + $1.height }) / 2
    for text in texts {
      draw(text, x: (area.width - text.width) / 2, y: y, colour)
      y += text.height
    }
  }

  private func draw(_ text: Texture, x: Int, y: Int, _ colour: Colour) {
    _ = sdl.pointee.SetTextureColorMod(text.handle, colour.red, colour.green, colour.blue)
    var target = SDL_Rect(WindowPlace(x: x, y: y, width: text.width, height: text.height))
    _ = sdl.pointee.RenderCopy(renderer, text.handle, nil, &target)
  }

  private func fill(x: Int, y: Int, width: Int, height: Int, _ colour: Colour, opacity: UInt8 = 255) {
    fill(WindowPlace(x: x, y: y, width: width, height: height), colour, opacity: opacity)
  }

  private func fill(_ place: WindowPlace, _ colour: Colour, opacity: UInt8 = 255) {
    _ = sdl.pointee.SetRenderDrawBlendMode(renderer, opacity == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND)
    _ = sdl.pointee.SetRenderDrawColor(renderer, colour.red, colour.green, colour.blue, opacity)
    var rectangle = SDL_Rect(place)
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
