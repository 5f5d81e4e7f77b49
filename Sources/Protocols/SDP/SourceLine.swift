/// Where something stood in the text that was parsed, for errors. It is no part of what a description says: two that say the same
/// are equal, so all places count as equal.
public struct SourceLine: Hashable, Sendable, CustomStringConvertible {
  /// Counted from 1; 0: it was not parsed.
  public var number: Int
  public var text: String

  /// Of something that was not parsed.
  public init() {
    (number, text) = (0, "")
  }

  init(_ line: SDPLine) {
    number = line.number
    text = line.text
  }

  public static func == (_: SourceLine, _: SourceLine) -> Bool { true }
  public func hash(into _: inout Hasher) {}

  /// `line 7 (m=video 9 UDP/TLS/RTP/SAVPF 96)`. Peers choose the text: one line of printable characters, at most 100.
  public var description: String { "line \(number) (\(Self.shown(text)))" }

  /// Nothing where it was not parsed.
  var behindColon: String { number > 0 ? ": \(self)" : "" }

  static func shown(_ text: String) -> String {
    let characters = text.unicodeScalars.filter { (32...126).contains($0.value) }
    return String(String.UnicodeScalarView(characters.prefix(100))) + (characters.count > 100 ? "…" : "")
  }
}
