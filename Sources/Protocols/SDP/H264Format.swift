/// A format of H.264 that constrained baseline in packetization mode 1 may be sent in. RFC 6184 section 8.1.
struct H264Format {
  /// That of which ours comes nearest first: who takes a later one decodes ours, too.
  enum Profile: Int {
    case constrainedBaseline, baseline, main, high
  }

  var profile: Profile
  /// `profile_idc` and the byte of constraints, in hexadecimal.
  private let profileText: String
  private let level: UInt8
  private let allowsAsymmetry: Bool

  /// Nil for another mode or profile.
  init?(_ parameters: FormatParameters) {
    guard parameters["packetization-mode"] == "1" else { return nil }
    let text = parameters["profile-level-id"] ?? Self.unnamedProfile
    guard text.utf8.count == 6, text.first != "+", let value = UInt32(text, radix: 16) else { return nil }
    let constraints = UInt8(truncatingIfNeeded: value >> 8)
    // Table 5.
    switch (value >> 16, constraints & 0x0f) {
    case (0x42, 0): profile = constraints & 0x40 != 0 ? .constrainedBaseline : .baseline
    case (0x58, 0) where constraints & 0x80 != 0: profile = constraints & 0x40 != 0 ? .constrainedBaseline : .baseline
    case (0x4d, 0): profile = constraints & 0x80 != 0 ? .constrainedBaseline : .main
    case (0x64, _): profile = .high
    default: return nil
    }
    profileText = String(text.prefix(4))
    level = UInt8(truncatingIfNeeded: value)
    allowsAsymmetry = parameters["level-asymmetry-allowed"] == "1"
  }

  /// Section 8.2.2: the same profile, without which Safari shows nothing; and the level of what this end takes, or that of both
  /// where they have to be the same.
  var answer: FormatParameters {
    let level = allowsAsymmetry ? Self.ownLevel : min(level, Self.ownLevel)
    let digits = String(level, radix: 16)
    return FormatParameters(
      (allowsAsymmetry ? "level-asymmetry-allowed=1;" : "")
        + "packetization-mode=1;profile-level-id=\(profileText)\(digits.utf8.count == 1 ? "0" : "")\(digits)")
  }

  /// 3.1.
  private static let ownLevel: UInt8 = 31
  /// Baseline of level 1.
  private static let unnamedProfile = "42000a"

  /// Why a format is none of these, for people.
  static func problem(_ parameters: FormatParameters) -> String {
    guard parameters["packetization-mode"] == "1" else {
      return "packetization-mode \(SourceLine.shown(parameters["packetization-mode"] ?? "0"))"
    }
    return "profile-level-id \(SourceLine.shown(parameters["profile-level-id"] ?? ""))"
  }
}
