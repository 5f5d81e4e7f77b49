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
