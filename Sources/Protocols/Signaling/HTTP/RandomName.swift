internal import Wire

/// Unguessable names: sessions, challenges, clients of rooms.
public enum RandomName {
  /// 128 bits in base64url, 22 characters.
  public static func make(from random: inout some RandomNumberGenerator) -> String {
    Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }
}
