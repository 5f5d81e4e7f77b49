extension StringProtocol {
  /// Columns that a terminal gives to it: two for East Asian wide characters and emoji, none for what is drawn on another
  /// one. Unicode Standard Annex 11.
  public var displayWidth: Int {
    reduce(0) { sum, character in
      guard let first = character.unicodeScalars.first else { return sum }
      let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{fe0f}")
      return sum + (isEmoji || first.isWide ? 2 : first.properties.generalCategory == .format ? 0 : 1)
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isWide: Bool {
    switch value {
    // Hangul, CJK and Kana, Yi, compatibility and fullwidth forms, the planes of ideographs.
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff,
      0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd:
      true
    default: false
    }
  }
}
