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
  /// By room.
  private var pictures: [Int: Texture] = [:]
  /// Pixels of what is drawn into: the window, or a part of it.
  private var area = WindowPlace(x: 0, y: 0, width: 0, height: 0)
  private var pointer: (x: Int, y: Int)?
  /// The buttons of the last drawing, pixels.
  private(set) var targets: [(place: WindowPlace, does: Target)] = []

  /// What a button does.
  enum Target: Hashable {
    case key(Character)
    case stay, leave
    case room(Int)
    case allRooms
  }

  init(renderer: OpaquePointer) {
    self.renderer = renderer
  }

  /// Everything has to be uploaded again.
  mutating func forget() {
    texts.forget()
    pictures = [:]
  }

  /// The picture's pixels go to the graphics memory; it converts the colours and scales.
  mutating func upload(_ frame: VideoFrame, room: Int) {
    var picture = pictures[room]
    if picture?.width != frame.width || picture?.height != frame.height {
      picture = Texture(
        renderer, format: CSDL_IYUV, access: SDL_TEXTUREACCESS_STREAMING, width: frame.width, height: frame.height)
      if let picture { _ = sdl.pointee.SetTextureScaleMode(picture.handle, SDL_ScaleModeLinear) }
      pictures[room] = picture
    }
    guard let picture else { return }
    _ = sdl.pointee.UpdateYUVTexture(
      picture.handle, nil, frame.y, Int32(clamping: frame.strideY), frame.u, Int32(clamping: frame.strideUV), frame.v,
      Int32(clamping: frame.strideUV))
  }

  /// What lies over the pictures besides the content's own.
  struct Overlay {
    /// By room: seconds since the last picture, when it is no longer a live one.
    var ages: [Int: Int] = [:]
    /// Of several rooms the chosen one is large.
    var isLarge = false
    var showsLine = false
    var showsButtons = false
    var showsHelp = false
    var question: WindowContent.Question?
    /// The phase of a ringing alarm's frame.
    var isBright = false
    /// Pixels.
    var pointer: (x: Int, y: Int)?
  }

  mutating func draw(_ content: WindowRooms, _ overlay: Overlay, size: (width: Int, height: Int)) {
    let whole = WindowPlace(x: 0, y: 0, width: size.width, height: size.height)
    area = whole
    pointer = overlay.pointer
    targets = []
    fill(whole, .background)
    let scale = Self.scale(size)
    // It lies over all rooms.
    let isCovered = overlay.question != nil || overlay.showsHelp || content.alarm != nil
    if content.areSeveral {
      // Within the frame, whose thickness changes.
      if content.isRinging { area = whole.inset(by: 6 * scale) }
      drawRooms(content, overlay, isCovered: isCovered, scale: scale)
    } else {
      drawPicture(0, age: overlay.ages[0])
    }
    let stage = area
    area = whole
    let frame = content.isRinging ? (overlay.isBright ? 6 : 2) * scale : 0
    if frame > 0 { drawFrame(frame, .alarm) }
    if let question = overlay.question {
      drawQuestion(question, scale: scale)
    } else if overlay.showsHelp {
      drawHelp(content.room.help, scale: scale)
    } else if let alarm = content.alarm {
      drawBanner(alarm, age: nil, scale: scale)
    }
    guard !content.areSeveral || overlay.isLarge else { return sdl.pointee.RenderPresent(renderer) }
    area = stage
    let (room, age) = (content.room, overlay.ages[content.chosen])
    if !isCovered {
      if let banner = room.banner {
        drawBanner(banner, age: age, scale: scale)
      } else if let age {
        drawCentred([Self.text(age: age)], scale: scale * 2, .text)
      } else if pictures[content.chosen] == nil {
        drawCentred(room.waiting, scale: scale, .faint)
      }
    }
    // Within the frame, whose thickness changes.
    let bottom = size.height - (content.isRinging ? 6 * scale : 0)
    let lineHeight = overlay.showsLine ? 16 * scale : 0
    if overlay.showsLine { drawLine(room, room.parts, top: bottom - lineHeight, height: lineHeight, scale: scale) }
    if overlay.showsButtons, !isCovered {
      drawButtons(
        room.buttons, isOneOfSeveral: content.areSeveral, bottom: bottom - lineHeight - 6 * scale, scale: scale)
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

  // MARK: Rooms

  /// Leaves `area` where the large one is, if one is.
  private mutating func drawRooms(_ content: WindowRooms, _ overlay: Overlay, isCovered: Bool, scale: Int) {
    let gap = scale
    let isTarget = !isCovered && area.width >= Self.leastWidth
    let warning = overlay.isLarge ? nil : content.warning.flatMap { texture($0, Self.size(scale)) }
    if let warning {
      let height = warning.height + 4 * scale
      draw(
        warning, x: area.x + 5 * scale, y: area.y + area.height - height + 2 * scale, .alarm,
        room: area.width - 10 * scale)
      area.height -= height
    }
    if overlay.isLarge {
      let others = content.rooms.indices.filter { $0 != content.chosen }
      let (strips, stage) = WindowGeometry.strips(
        others.count, width: 140 * scale, height: 24 * scale, in: area, gap: gap)
      for (room, place) in zip(others, strips) {
        area = place
        drawStrip(content.rooms[room], room, age: overlay.ages[room], scale: min(scale, max(1, place.height / 14)))
        if isTarget { targets.append((place, .room(room))) }
      }
      area = stage
      drawPicture(content.chosen, age: overlay.ages[content.chosen])
      return
    }
    for (room, place) in WindowGeometry.grid(content.rooms.count, in: area, gap: gap).enumerated() {
      area = place
      drawTile(
        content.rooms[room], room, age: overlay.ages[room], isChosen: room == content.chosen,
        scale: max(min(2, scale), Self.scale((place.width, place.height))))
      if isTarget { targets.append((place, .room(room))) }
    }
  }

  private mutating func drawTile(_ content: WindowContent, _ room: Int, age: Int?, isChosen: Bool, scale: Int) {
    let place = area
    drawPicture(room, age: content.problem == nil ? age : age ?? 0)
    let height = 16 * scale
    let ageText = age.map { "The picture is \(Self.text(age: $0))." }
    area.height -= height
    if let problem = content.problem {
      let colour: Colour = content.tone == .bad ? .alarm : .gold
      drawCentred([problem, ageText].compactMap(\.self), scale: scale, colour)
    } else if let age {
      drawCentred([Self.text(age: age)], scale: scale, .text)
    } else if pictures[room] == nil {
      drawCentred(content.waiting, scale: scale, .faint)
    }
    area = place
    drawLine(
      content, [content.name, content.note].compactMap(\.self), top: place.y + place.height - height, height: height,
      scale: scale)
    if content.isRinging || isChosen { drawFrame(scale, content.isRinging ? .alarm : .gold) }
  }

  private mutating func drawStrip(_ content: WindowContent, _ room: Int, age: Int?, scale: Int) {
    let place = area
    area.width = min(place.width / 4, place.height * 16 / 9)
    drawPicture(room, age: age)
    area.x += area.width
    area.width = place.width - area.width
    drawLine(
      content, [content.name, content.problem ?? content.note].compactMap(\.self), top: place.y, height: place.height,
      scale: scale)
    area = place
    if content.isRinging { drawFrame(scale, .alarm) }
  }

  /// - Parameter age: one that is old is dark.
  private func drawPicture(_ room: Int, age: Int?) {
    guard let picture = pictures[room] else { return }
    var target = SDL_Rect(WindowGeometry.letterbox(width: picture.width, height: picture.height, in: area))
    let light: UInt8 = age == nil ? 255 : 80
    _ = sdl.pointee.SetTextureColorMod(picture.handle, light, light, light)
    _ = sdl.pointee.RenderCopy(renderer, picture.handle, nil, &target)
  }

  // MARK: Parts

  /// A narrower window is dragged by its picture.
  private static let leastWidth = 420

  private mutating func drawLine(_ content: WindowContent, _ parts: [String], top: Int, height: Int, scale: Int) {
    fill(x: area.x, y: top, width: area.width, height: height, .background, opacity: 200)
    let middle = top + height / 2
    var x = area.x + 5 * scale
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
    let (parts, end) = ([content.said].compactMap(\.self) + parts, area.x + area.width - 4 * scale)
    for (index, part) in parts.enumerated() {
      guard let text = texture(part, Self.size(scale)) else { continue }
      guard x + text.width <= end || index == 0 else { break }
      let isSaid = content.said != nil && index == 0
      let colour: Colour =
        isSaid || part == content.note ? .gold : part == content.problem && content.tone == .bad ? .alarm : .text
      draw(text, x: x, y: middle - text.height / 2, colour, room: end - x)
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
    let top = area.y + max(0, (area.height - height) / 2)
    fill(x: area.x, y: top, width: area.width, height: height, .background, opacity: 225)
    fill(x: area.x, y: top, width: area.width, height: scale, edge)
    fill(x: area.x, y: top + height - scale, width: area.width, height: scale, edge)
    var y = top + 7 * scale
    for (index, text) in texts.enumerated() {
      guard let text else { continue }
      draw(text, x: area.x + (area.width - text.width) / 2, y: y, index == 0 ? edge : .text)
      y += text.height + between
    }
    drawRow(
      buttons.map { ($0.title, $0.isMain ? edge : .faint, $0.does) }, bottom: top + height - 7 * scale,
      height: 22 * buttonScale, scale: buttonScale)
  }

  private mutating func drawButtons(
    _ buttons: [WindowContent.Button], isOneOfSeveral: Bool, bottom: Int, scale: Int
  ) {
    guard area.width >= Self.leastWidth else { return }
    let back: [(title: String, edge: Colour, does: Target)] = isOneOfSeveral ? [("All rooms", .faint, .allRooms)] : []
    drawRow(
      back + buttons.map { ($0.title, $0.isOn ? .gold : .faint, .key($0.key)) }, bottom: bottom, height: 18 * scale,
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
    var x = area.x + (area.width - width) / 2
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

  private func drawFrame(_ width: Int, _ colour: Colour) {
    let (x, y) = (area.x, area.y)
    fill(x: x, y: y, width: area.width, height: width, colour)
    fill(x: x, y: y + area.height - width, width: area.width, height: width, colour)
    fill(x: x, y: y, width: width, height: area.height, colour)
    fill(x: x + area.width - width, y: y, width: width, height: area.height, colour)
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
    var y = area.y + (area.height - texts.reduce(0) { $0 + $1.height }) / 2
    for text in texts {
      draw(text, x: area.x + (area.width - text.width) / 2, y: y, colour)
      y += text.height
    }
  }

  /// - Parameter room: what is wider is cut off.
  private func draw(_ text: Texture, x: Int, y: Int, _ colour: Colour, room: Int = .max) {
    _ = sdl.pointee.SetTextureColorMod(text.handle, colour.red, colour.green, colour.blue)
    var source = SDL_Rect(WindowPlace(x: 0, y: 0, width: min(text.width, max(0, room)), height: text.height))
    var target = SDL_Rect(WindowPlace(x: x, y: y, width: Int(source.w), height: text.height))
    _ = sdl.pointee.RenderCopy(renderer, text.handle, &source, &target)
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
