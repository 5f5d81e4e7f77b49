/// Level 3.1, which every decoder of H.264 in browsers and players takes. ITU-T H.264 table A-1.
public enum H264Level {
  public static let level: UInt8 = 31
  /// Of one picture: 1280×720.
  public static let maximumMacroblocks = 3600
  /// With pictures of that size. More of smaller ones would be allowed.
  public static let maximumFramesPerSecond = 30
  public static let maximumKbps = 14_000

  /// A macroblock has 16 × 16 pixels.
  public static func fits(width: Int, height: Int) -> Bool {
    (width + 15) / 16 * ((height + 15) / 16) <= maximumMacroblocks
  }
}
