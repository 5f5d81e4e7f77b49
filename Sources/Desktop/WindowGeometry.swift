public import Storage

/// Where things stand on a screen and in a window; pure.
public enum WindowGeometry {
  /// The small window's distance from the edge that it snaps to.
  public static let margin = 12
  /// Its size: a fifth of the screen's width, so that a face is recognised and work goes on around it.
  static let smallWidths = 240...480

  /// The largest rectangle with the picture's aspect within an area, centred.
  public static func letterbox(width: Int, height: Int, in area: (width: Int, height: Int)) -> WindowPlace {
    guard width > 0, height > 0, area.width > 0, area.height > 0 else {
      return WindowPlace(x: 0, y: 0, width: max(0, area.width), height: max(0, area.height))
    }
    // Compares the aspects without dividing.
    let isLimitedByWidth = area.width * height <= area.height * width
    let fitted =
      isLimitedByWidth
      ? (width: area.width, height: max(1, area.width * height / width))
      : (width: max(1, area.height * width / height), height: area.height)
    return WindowPlace(
      x: (area.width - fitted.width) / 2, y: (area.height - fitted.height) / 2, width: fitted.width,
      height: fitted.height)
  }

  /// The same within a place.
  static func letterbox(width: Int, height: Int, in place: WindowPlace) -> WindowPlace {
    var result = letterbox(width: width, height: height, in: (place.width, place.height))
    result.x += place.x
    result.y += place.y
    return result
  }

  /// Places for several rooms, row by row: two side by side, four in two rows. They fill the area but for a gap between them.
  public static func grid(_ count: Int, in area: WindowPlace, gap: Int = 0) -> [WindowPlace] {
    guard count > 0 else { return [] }
    var columns = 1
    while columns * columns < count { columns += 1 }
    let rows = (count + columns - 1) / columns
    // Twice as high as wide: a phone's screen, or half of a wide one.
    if area.height > 2 * area.width { return cells(count, columns: rows, rows: columns, in: area, gap: gap) }
    return cells(count, columns: columns, rows: rows, in: area, gap: gap)
  }

  /// A strip for each of `count` rooms above what is left for the large one. They share rows, as wide as `width` at least, and
  /// become lower rather than take more than a third of the area.
  public static func strips(
    _ count: Int, width: Int, height: Int, in area: WindowPlace, gap: Int = 0
  ) -> (strips: [WindowPlace], rest: WindowPlace) {
    guard count > 0 else { return ([], area) }
    let columns = min(count, max(1, area.width / max(1, width)))
    let rows = (count + columns - 1) / columns
    var (above, rest) = (area, area)
    above.height = min(rows * height, area.height / 3)
    rest.y += above.height + gap
    rest.height = max(0, area.height - above.height - gap)
    return (cells(count, columns: columns, rows: rows, in: above, gap: gap), rest)
  }

  /// Those of the last row are as wide as the others.
  private static func cells(_ count: Int, columns: Int, rows: Int, in area: WindowPlace, gap: Int) -> [WindowPlace] {
    func edge(_ index: Int, of number: Int, _ length: Int) -> Int { (length + gap) * index / number }
    return (0..<count).map { index in
      let (column, row) = (index % columns, index / columns)
      let (left, top) = (edge(column, of: columns, area.width), edge(row, of: rows, area.height))
      return WindowPlace(
        x: area.x + left, y: area.y + top,
        width: max(0, edge(column + 1, of: columns, area.width) - gap - left),
        height: max(0, edge(row + 1, of: rows, area.height) - gap - top))
    }
  }

  /// The small window for a picture: at the screen's bottom right.
  public static func small(width: Int, height: Int, on screen: WindowPlace) -> WindowPlace {
    let wide = min(max(screen.width / 5, smallWidths.lowerBound), smallWidths.upperBound)
    let tall = width > 0 && height > 0 ? max(1, wide * height / width) : wide * 9 / 16
    return WindowPlace(
      x: screen.x + screen.width - wide - margin, y: screen.y + screen.height - tall - margin, width: wide,
      height: tall)
  }

  /// The window moved to the screen's nearest edge; in a corner, to both.
  public static func snapped(_ window: WindowPlace, to screen: WindowPlace) -> WindowPlace {
    let least = (x: screen.x + margin, y: screen.y + margin)
    let most = (
      x: max(least.x, screen.x + screen.width - window.width - margin),
      y: max(least.y, screen.y + screen.height - window.height - margin)
    )
    var result = window
    result.x = min(max(window.x, least.x), most.x)
    result.y = min(max(window.y, least.y), most.y)
    let (left, right) = (result.x - least.x, most.x - result.x)
    let (top, bottom) = (result.y - least.y, most.y - result.y)
    let (aside, above) = (min(left, right), min(top, bottom))
    // Within twice the margin of a second edge it is meant to be in the corner.
    if aside <= above || aside <= 2 * margin { result.x = left <= right ? least.x : most.x }
    if above < aside || above <= 2 * margin { result.y = top <= bottom ? least.y : most.y }
    return result
  }

  /// The remembered place, if so much of it is still on a screen that it can be seen and moved; else nil.
  public static func visible(_ place: WindowPlace, on screens: [WindowPlace]) -> WindowPlace? {
    guard place.width >= 64, place.height >= 36, place.width <= 16384, place.height <= 16384 else { return nil }
    let isSeen = screens.contains { screen in
      let width = min(place.x + place.width, screen.x + screen.width) - max(place.x, screen.x)
      let height = min(place.y + place.height, screen.y + screen.height) - max(place.y, screen.y)
      return width >= min(place.width, 64) && height >= min(place.height, 36)
    }
    return isSeen ? place : nil
  }

  /// The screen that holds the window's middle, else the first.
  public static func screen(of window: WindowPlace, among screens: [WindowPlace]) -> WindowPlace? {
    let middle = (x: window.x + window.width / 2, y: window.y + window.height / 2)
    return screens.first { screen in
      (screen.x..<screen.x + screen.width).contains(middle.x)
        && (screen.y..<screen.y + screen.height).contains(middle.y)
    } ?? screens.first
  }
}

extension WindowPlace {
  func contains(x: Int, y: Int) -> Bool {
    (self.x..<self.x + width).contains(x) && (self.y..<self.y + height).contains(y)
  }

  /// With a margin taken off each side.
  func inset(by margin: Int) -> WindowPlace {
    WindowPlace(x: x + margin, y: y + margin, width: max(0, width - 2 * margin), height: max(0, height - 2 * margin))
  }
}
