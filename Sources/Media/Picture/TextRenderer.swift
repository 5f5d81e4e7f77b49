import Frames

/// Draws ASCII text into a picture with the built-in bitmap font, scaled by an integer.
public struct TextRenderer: Sendable {
  /// Picture pixels per font pixel, in both directions.
  public let scale: Int

  public init(scale: Int) {
    precondition(scale > 0, "text has a size")
    self.scale = scale
  }

  /// Pixels from one line to the next.
  public var lineHeight: Int { BitmapFont.lineHeight * scale }
  /// Pixels from one character to the next.
  public var advance: Int { BitmapFont.advance * scale }

  /// Width of `text` in pixels, without the gap after its last character.
  public func width(of text: String) -> Int {
    text.isEmpty ? 0 : text.count * advance - (BitmapFont.advance - BitmapFont.inkWidth) * scale
  }

  /// Draws one line with its top left corner at (x, y); luma only, so that the background colour stays.
  /// Returns the x after the last character.
  @discardableResult
  public func draw(_ text: String, x: Int, y: Int, luma: UInt8, on canvas: Canvas) -> Int {
    var left = x
    for character in text {
      // Characters right of the picture are not drawn; a long text costs no more than a short one.
      guard left < canvas.frame.width else { return left }
      draw(BitmapFont.rows(of: character), x: left, y: y, luma: luma, on: canvas)
      left += advance
    }
    return left
  }

  /// Breaks `text` at spaces into lines of at most `width` pixels; a longer word is broken anywhere.
  public func wrap(_ text: String, width: Int) -> [String] {
    let most = max(1, (width + scale) / advance)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      var word = word
      if !line.isEmpty, line.count + 1 + word.count <= most {
        line += " " + word
        continue
      }
      if !line.isEmpty { lines.append(line) }
      while word.count > most {
        lines.append(String(word.prefix(most)))
        word = word.dropFirst(most)
      }
      line = String(word)
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }

  private func draw(_ rows: [UInt8], x: Int, y: Int, luma: UInt8, on canvas: Canvas) {
    for (row, bits) in rows.enumerated() where bits != 0 {
      var column = 0
      while column < BitmapFont.inkWidth {
        let start = column
        while column < BitmapFont.inkWidth, bits >> UInt8(BitmapFont.inkWidth - 1 - column) & 1 == 1 { column += 1 }
        if column > start {
          canvas.fillLuma(
            x: x + start * scale, y: y + row * scale, width: (column - start) * scale, height: scale, luma)
        } else {
          column += 1
        }
      }
    }
  }
}
