internal import CSDL
internal import Frames
public import Storage
internal import Wire

/// The window of a viewer: the picture, scaled with its aspect, and a line that comes when somebody moves the pointer or
/// presses a key. Several rooms are tiles, or one is large and the others are strips. Used by one thread only, the program's first one, as some desktops demand.
public final class ViewerWindow {
  /// What a viewer's window begins with.
  public struct Options: Sendable {
    public var isFullScreen = false
    /// How the window was left last time.
    public var memory: WindowMemory?

    public init() {}
  }

  /// The line stays for so long after the pointer or a key.
  private static let lineTime: Duration = .seconds(4)
  /// A picture is called old after this.
  private static let freshness: Duration = .seconds(2)
  /// While the window is not closed properly its place is saved so long after it was last changed.
  private static let savingDelay: Duration = .seconds(2)
  /// Between two looks at the clock: for ages, and for the frame of an alarm, which must not flash more than three times a
  /// second (WCAG 2.3.1).
  private static let tick: Int32 = 250
  private static let firstSize = (width: 960, height: 540)

  private let inbox: WindowInbox
  private let surface: ScreenSurface
  private var painter: Painter
  private let handle: (WindowKey) -> Void
  private let remember: (WindowMemory) -> Void

  private var memory: WindowMemory
  private var unsavedSince: Instant?
  private var content: WindowRooms
  /// Of several rooms the chosen one is large.
  private var isLarge = false
  private var pictureSize = (width: 16, height: 9)
  /// By room.
  private var picturesAt: [Int: Instant] = [:]
  private var lineUntil: Instant?
  private var pointerUntil: Instant?
  /// Pixels.
  private var pointer: (x: Int, y: Int)?
  private var showsHelp = false
  /// Asked before the window is closed.
  private var question: WindowContent.Question?
  /// The key of the button that is held.
  private var held: Character?
  private var isFullScreen = false
  private var isSmall = false
  private var isClosing = false
  /// The last click was at a ringing alarm, or opened a room: it is not the first half of a double click.
  private var isClickUsed = false
  /// Where the pointer and the small window were when the button was pressed.
  private var drag: (pointer: (x: Int, y: Int), window: WindowPlace)?

  /// Whether there is a desktop to open a window on.
  public static func isPossible(environment: [String: String]) -> Bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
  }

  /// Opens the window.
  ///
  /// - Parameters:
  ///   - handle: called for keys that are not the window's own.
  ///   - remember: called when the window's place has changed, and at the end.
  public init(
    _ inbox: WindowInbox, options: Options, handle: @escaping (WindowKey) -> Void,
    remember: @escaping (WindowMemory) -> Void
  ) throws(DesktopError) {
    self.inbox = inbox
    self.handle = handle
    self.remember = remember
    memory = options.memory ?? WindowMemory()
    content = inbox.take().content
    try DesktopLibraries.load()
    // The program has its own handlers.
    _ = sdl.pointee.SetHint("SDL_NO_SIGNAL_HANDLERS", "1")
    _ = sdl.pointee.SetHint("SDL_APP_NAME", "Cradle")
    // Neither effects nor other programs' windows go away for a baby monitor.
    _ = sdl.pointee.SetHint("SDL_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR", "0")
    _ = sdl.pointee.SetHint("SDL_VIDEO_MINIMIZE_ON_FOCUS_LOSS", "0")
    _ = sdl.pointee.SetHint("SDL_MOUSE_FOCUS_CLICKTHROUGH", "1")
    _ = sdl.pointee.SetHint("SDL_RENDER_VSYNC", "0")
    guard sdl.pointee.Init(CSDL_INIT_VIDEO) == 0 else { throw DesktopError("there is no desktop") }
    // SDL works without a screen where it finds none.
    guard let driver = sdl.pointee.GetCurrentVideoDriver(), ["x11", "wayland"].contains(String(cString: driver)) else {
      sdl.pointee.QuitSubSystem(CSDL_INIT_VIDEO)
      throw DesktopError("there is no desktop")
    }
    sdl.pointee.SetYUVConversionMode(SDL_YUV_CONVERSION_BT601)
    do throws(DesktopError) {
      let place = memory.place.flatMap { WindowGeometry.visible($0, on: ScreenSurface.screens) }
      surface = try ScreenSurface(title: content.title, place: place, size: Self.firstSize)
    } catch {
      sdl.pointee.QuitSubSystem(CSDL_INIT_VIDEO)
      throw error
    }
    painter = Painter(renderer: surface.renderer)
    sdl.pointee.SetWindowMinimumSize(surface.window, 160, 90)
    // Whoever looks at the child does not touch the keyboard for hours.
    sdl.pointee.DisableScreenSaver()
    sdl.pointee.ShowWindow(surface.window)
    // Again, now that the desktop's frame is around it.
    if let place = memory.place.flatMap({ WindowGeometry.visible($0, on: ScreenSurface.screens) }) {
      surface.move(to: place)
    }
    inbox.open()
    showLine()
    if options.isFullScreen || (memory.isFullScreen && !memory.isSmall) { setFullScreen(true) }
    if memory.isSmall, !options.isFullScreen { setSmall(true) }
  }

  deinit { inbox.close() }

  /// Shows what comes until the inbox is ended or the window is closed; true when a person closed it.
  public func run() -> Bool {
    draw()
    while !isClosing {
      var event = csdl_event()
      var mustDraw = false
      if csdl_wait(sdl, &event, Self.tick) != 0 {
        repeat { mustDraw = follow(event) || mustDraw } while csdl_wait(sdl, &event, 0) != 0
      } else {
        mustDraw = true
      }
      let (pictures, content, isEnded) = inbox.take()
      if isEnded {
        finish()
        return false
      }
      if content != self.content {
        mustDraw = true
        follow(content)
      }
      for (room, picture) in pictures {
        if room == content.chosen { pictureSize = (picture.frame.width, picture.frame.height) }
        picturesAt[room] = picture.decodedAt
        painter.upload(picture.frame, room: room)
      }
      if mustDraw || !pictures.isEmpty, !surface.isHidden {
        draw()
        for picture in pictures.values { inbox.note(delay: MonotonicClock.now - picture.decodedAt) }
      }
      saveIfDue()
    }
    finish()
    return true
  }

  private func finish() {
    noteRole()
    remember(memory)
    inbox.close()
    sdl.pointee.HideWindow(surface.window)
  }

  private func draw() {
    let now = MonotonicClock.now
    let ages = picturesAt.mapValues { now - $0 }.filter { $0.value > Self.freshness }
    let phase = now.nanoseconds / 500_000_000 % 2 == 0
    let isTouched = lineUntil.map { now < $0 } ?? false
    let isPointed = pointerUntil.map { now < $0 } ?? false
    var overlay = Painter.Overlay()
    overlay.ages = ages.mapValues { Int(saturating: $0.inSeconds) }
    overlay.isLarge = isLarge
    overlay.showsLine = content.room.isLinePinned || content.room.banner != nil || isTouched
    overlay.showsButtons = isPointed && content.room.banner == nil && !isSmall
    overlay.showsHelp = showsHelp
    overlay.question = question
    overlay.isBright = phase
    overlay.pointer = pointer
    painter.draw(content, overlay, size: surface.size)
    _ = sdl.pointee.ShowCursor(isFullScreen && !isTouched ? 0 : 1)
  }

  private func showLine() { lineUntil = MonotonicClock.now + Self.lineTime }

  private func follow(_ new: WindowRooms) {
    if new.title != content.title { sdl.pointee.SetWindowTitle(surface.window, new.title) }
    if let said = new.room.said, said != content.room.said { showLine() }
    if new.isRinging, !content.isRinging {
      _ = sdl.pointee.FlashWindow(surface.window, SDL_FLASH_UNTIL_FOCUSED)
      question = nil
    } else if !new.isRinging, content.isRinging {
      _ = sdl.pointee.FlashWindow(surface.window, SDL_FLASH_CANCEL)
    }
    content = new
  }

  // MARK: Keys and pointer

  /// True when the window has to be drawn.
  private func follow(_ event: csdl_event) -> Bool {
    switch event.kind {
    case CSDL_QUIT: close()
    case CSDL_KEY_DOWN: if event.repeats == 0, let key = Self.character(event.key) { press(key) }
    case CSDL_KEY_UP: if let key = Self.character(event.key) { handle(.released(key)) }
    case CSDL_POINTER:
      if let drag {
        let pointer = ScreenSurface.pointer
        var place = drag.window
        place.x += pointer.x - drag.pointer.x
        place.y += pointer.y - drag.pointer.y
        surface.move(to: place)
      }
      showLine()
      pointerUntil = lineUntil
      pointer = surface.pixel(x: Int(event.x), y: Int(event.y))
    case CSDL_BUTTON_DOWN, CSDL_DOUBLE_CLICK:
      pointer = surface.pixel(x: Int(event.x), y: Int(event.y))
      click(isDouble: event.kind == CSDL_DOUBLE_CLICK)
    case CSDL_BUTTON_UP:
      if let key = held { handle(.released(key)) }
      held = nil
      guard drag != nil else { break }
      drag = nil
      snap()
    // Held keys are let go of: nobody talks into the room from another window without knowing.
    case CSDL_FOCUS_LOST:
      handle(.released(" "))
      held = nil
    case CSDL_MOVED, CSDL_RESIZED: if unsavedSince == nil { unsavedSince = MonotonicClock.now }
    case CSDL_TEXTURES_LOST: painter.forget()
    case CSDL_WOKEN, CSDL_OTHER: return false
    default: break
    }
    return true
  }

  private static let escape: Character = "\u{1b}"

  private static func character(_ key: Int32) -> Character? {
    guard let scalar = UInt32(exactly: key).flatMap(Unicode.Scalar.init) else { return nil }
    return Character(scalar)
  }

  private func click(isDouble: Bool) {
    if let pointer, let target = painter.targets.last(where: { $0.place.contains(x: pointer.x, y: pointer.y) }) {
      switch target.does {
      case .key(let key):
        held = key
        press(key)
      case .stay: question = nil
      case .leave: isClosing = true
      case .allRooms: isLarge = false
      case .room(let room):
        isClickUsed = true
        isLarge = true
        handle(.chose(room))
      }
      return
    }
    if isDouble {
      guard !isClickUsed else { return }
      return isSmall ? setSmall(false) : setFullScreen(!isFullScreen)
    }
    // Whoever clicks at an alarm has seen it, and may click twice.
    isClickUsed = content.isRinging
    if isClickUsed { handle(.pressed("a")) }
    showsHelp = false
    if isSmall { drag = (ScreenSurface.pointer, surface.place) }
  }

  private func press(_ key: Character) {
    showLine()
    if question != nil {
      // The same key again closes it; any other one has changed its mind.
      if key == "q" { isClosing = true }
      question = nil
      return
    }
    switch key {
    case "q": close()
    case Self.escape: escape()
    case "\u{8}": isLarge = false
    case "\r": isLarge = content.areSeveral
    case "f": setFullScreen(!isFullScreen)
    case "p": setSmall(!isSmall)
    case "?": showsHelp.toggle()
    default: handle(.pressed(key))
    }
  }

  /// Asks first, where that is wanted; whoever wants to close it again means it.
  private func close() {
    if question == nil, let asked = content.question {
      question = asked
      showsHelp = false
    } else {
      isClosing = true
    }
  }

  private func escape() {
    if showsHelp {
      showsHelp = false
    } else if isLarge {
      isLarge = false
    } else if isFullScreen {
      setFullScreen(false)
    } else if isSmall {
      setSmall(false)
    } else {
      close()
    }
  }

  // MARK: Its place

  private func setFullScreen(_ isWanted: Bool) {
    guard isWanted != isFullScreen else { return }
    if isWanted {
      setSmall(false)
      noteRole()
    }
    guard sdl.pointee.SetWindowFullscreen(surface.window, isWanted ? CSDL_WINDOW_FULL_SCREEN : 0) == 0 else { return }
    isFullScreen = isWanted
    if !isWanted, let place = memory.place { surface.place = place }
    noteRole()
  }

  private func setSmall(_ isWanted: Bool) {
    guard isWanted != isSmall else { return }
    if isWanted { setFullScreen(false) }
    noteRole()
    isSmall = isWanted
    sdl.pointee.SetWindowBordered(surface.window, csdl_true(isWanted ? 0 : 1))
    sdl.pointee.SetWindowAlwaysOnTop(surface.window, csdl_true(isWanted ? 1 : 0))
    let screens = ScreenSurface.screens
    if isWanted {
      let screen =
        WindowGeometry.screen(of: memory.place ?? surface.place, among: screens)
        ?? WindowPlace(x: 0, y: 0, width: 1280, height: 720)
      surface.place =
        memory.small.flatMap { WindowGeometry.visible($0, on: screens) }
        ?? WindowGeometry.small(width: pictureSize.width, height: pictureSize.height, on: screen)
    } else {
      drag = nil
      surface.place =
        memory.place.flatMap { WindowGeometry.visible($0, on: screens) }
        ?? WindowPlace(
          x: surface.place.x, y: surface.place.y, width: Self.firstSize.width, height: Self.firstSize.height)
    }
    noteRole()
  }

  private func snap() {
    let place = surface.place
    guard let screen = WindowGeometry.screen(of: place, among: ScreenSurface.screens) else { return }
    surface.move(to: WindowGeometry.snapped(place, to: screen))
    noteRole()
  }

  /// Keeps the place of the kind of window that it is now.
  private func noteRole() {
    memory.isSmall = isSmall
    memory.isFullScreen = isFullScreen
    if isSmall {
      memory.small = surface.place
    } else if !isFullScreen, surface.flags & (CSDL_WINDOW_MAXIMIZED | CSDL_WINDOW_MINIMIZED) == 0 {
      memory.place = surface.place
    }
    unsavedSince = unsavedSince ?? MonotonicClock.now
  }

  private func saveIfDue() {
    guard let since = unsavedSince, MonotonicClock.now - since > Self.savingDelay, drag == nil else { return }
    noteRole()
    unsavedSince = nil
    remember(memory)
  }
}
