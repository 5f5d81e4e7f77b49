/// The username fragment and password of one side for one ICE generation. RFC 8839 section 5.4.
public struct ICECredentials: Hashable, Sendable {
  /// `ice-ufrag`: 4...256 ice-chars.
  public var usernameFragment: String
  /// `ice-pwd`: 22...256 ice-chars.
  public var password: String

  public init(usernameFragment: String, password: String) {
    self.usernameFragment = usernameFragment
    self.password = password
  }

  /// Random credentials: a fragment of 8 characters (48 bits, RFC 8839 asks for 24) identifies the peer among many on
  /// one socket; a password of 24 characters has 144 bits (RFC 8839 asks for 128).
  public static func random(using generator: inout some RandomNumberGenerator) -> ICECredentials {
    ICECredentials(
      usernameFragment: randomText(8, using: &generator), password: randomText(24, using: &generator))
  }

  private static func randomText(_ count: Int, using generator: inout some RandomNumberGenerator) -> String {
    String(decoding: (0..<count).map { _ in iceCharacters[Int.random(in: 0..<64, using: &generator)] }, as: UTF8.self)
  }

  /// RFC 8839 section 5.1: ALPHA / DIGIT / "+" / "/".
  private static let iceCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
