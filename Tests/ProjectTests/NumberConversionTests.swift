import Foundation
import Testing

/// `Int(1e300)` and `Int(Double.nan)` end the program, and a peer may send both. Conversions from floating point go
/// through `Int(saturating:)` (Wire) or `Int(exactly:)`.
///
/// The compiler's types are not known here, so this is a heuristic. A conversion counts as one from floating point when
/// its argument holds
/// - a call or literal that is floating point: `.rounded(`, `Double(`, `0.5`, `1e9`, `inSeconds`, `inMilliseconds`;
/// - a name that the same file declares as `Double` or `Float`;
/// - in the parent: a property that a document of the `control` channel declares as `Double`.
///
/// It reads line by line and does not follow values through local constants without a type.
@Suite struct NumberConversionTests {
  /// Files whose numbers cannot come from a peer. A reason for each; what needs no exception any more fails the test.
  private static let exceptions = [
    "Sources/Media/Sound/": "samples and positions that our own arithmetic bounds, for each sample",
    "Sources/Media/Picture/": "positions within a frame that we made",
    "Sources/Devices/ALSA/CaptureClock.swift": "time between two reads of our own",
    "Sources/Devices/Pace.swift": "time that our own clock measured",
    "Sources/Devices/SilenceWatch.swift": "a constant",
    "Sources/Devices/Speakers/PlaybackRing.swift": "constants",
    "Sources/Child/Doctor/ReadinessCheck.swift": "a constant",
    "Sources/Media/Codecs/VP8Encoder.swift": "time between two frames, from our own clock",
    "Sources/Child/EncoderSlot.swift": "the configured frame rate",
    "Sources/Media/Pipelines/EncoderSlot.swift": "the configured frame rate",
  ]

  /// Made once for each test: a `Regex` cannot be shared between threads.
  private struct Patterns {
    let integer = #/\b(?:U?Int(?:8|16|32|64)?|time_t)\(/#
    let duration = #/(?:^|[^\w])\.(?:seconds|milliseconds|microseconds|nanoseconds)\(/#
    let floating =
      #/\.rounded\(|\b(?:Double|Float)\(|(?:^|[^\w.])\d[\d_]*(?:\.\d|[eE]-?\d)|\.in(?:Seconds|Milliseconds)/#
    let floatingDeclaration = #/\b(\w+)\s*:\s*(?:inout\s+)?(?:Double|Float)\b/#
    let floatingProperty = #/\b(?:var|let)\s+(\w+)\s*:\s*(?:Double|Float)\b/#
    let integerProperty = #/\b(?:var|let)\s+(\w+)\s*:\s*U?Int(?:8|16|32|64)?\b/#
    let label = #/\s*\w+:/#
    let wholeNumber = #/-?(?:U?Int(?:64)?\(|\d+(?:\.\d+)?$)/#
    let name = #/[A-Za-z_]\w*/#
  }

  private let patterns = Patterns()

  private static func names(_ pattern: Regex<(Substring, Substring)>, in file: Project.File) -> Set<String> {
    Set(file.code.flatMap { line in line.text.matches(of: pattern).map { String($0.output.1) } })
  }

  /// What stands between the parenthesis before `start` and its partner, or the end of the line.
  private static func argument(_ line: Substring) -> Substring {
    var depth = 1
    for index in line.indices {
      if line[index] == "(" { depth += 1 }
      if line[index] == ")" { depth -= 1 }
      if depth == 0 { return line[..<index] }
    }
    return line
  }

  /// The conversions in a line that look like ones from floating point.
  private func conversions(in line: String, floatingNames: Set<String>, said: Set<String> = []) -> [String] {
    // Most lines have none, and a pattern takes its time.
    guard ["Int", "time_t(", "seconds("].contains(where: line.contains) else { return [] }
    func isFloating(_ argument: Substring, before: Substring, _ names: Set<String>) -> Bool {
      if argument.contains(patterns.floating) { return true }
      // `seconds.map { Int($0) }`
      let about = argument.contains("$0") ? "\(before)\(argument)" : String(argument)
      return !names.isDisjoint(with: about.matches(of: patterns.name).map { String($0.output) })
    }
    func found(_ pattern: Regex<Substring>, isDuration: Bool) -> [String] {
      line.matches(of: pattern).compactMap { match in
        let argument = Self.argument(line[match.range.upperBound...])
        // With a label it is another initializer: exactly, saturating, clamping, bitPattern …
        if argument.prefixMatch(of: patterns.label) != nil { return nil }
        // `Duration.seconds(_:)` of a whole number or of a literal. Its other arguments are whole numbers mostly.
        if isDuration, argument.prefixMatch(of: patterns.wholeNumber) != nil { return nil }
        let names = isDuration ? floatingNames : floatingNames.union(said)
        return isFloating(argument, before: line[..<match.range.lowerBound], names)
          ? "\(line[match.range])\(argument))" : nil
      }
    }
    return found(patterns.integer, isDuration: false) + found(patterns.duration, isDuration: true)
  }

  @Test func noNumberOfAPeerEndsTheProgram() throws {
    let documents = try Project.swiftFiles(below: "Sources/Protocols/Control")
    let said = documents.reduce(into: Set<String>()) { $0.formUnion(Self.names(patterns.floatingProperty, in: $1)) }
    #expect(said.isSuperset(of: ["uptimeSeconds", "positionSeconds", "levelDb"]))
    var unused = Self.exceptions
    for file in try Project.swiftFiles(below: "Sources") {
      let isParent = file.path.hasPrefix("Sources/Parent") || file.path.hasPrefix("Sources/cradle-parent")
      let whole = Self.names(patterns.integerProperty, in: file)
      let names = Self.names(patterns.floatingDeclaration, in: file).subtracting(whole)
      for line in file.code {
        let found = conversions(in: line.text, floatingNames: names, said: isParent ? said.subtracting(whole) : [])
        guard !found.isEmpty else { continue }
        if let exception = Self.exceptions.keys.first(where: { file.path.hasPrefix($0) }) {
          unused[exception] = nil
          continue
        }
        Issue.record(
          "\(file.path):\(line.number): \(found.joined(separator: ", ")): use Int(saturating:) or Int(exactly:)")
      }
    }
    for (path, _) in unused where FileManager.default.fileExists(atPath: Project.root.appending(path: path).path) {
      Issue.record("\(path) needs no exception any more")
    }
  }

  @Test(arguments: [
    ("Int(value.rounded())", true), ("Int64(Double(x) * y)", true), ("UInt32(max(1, wanted * 1000))", true),
    ("x.map { Int($0) } // none", false), ("level.map { Int($0) }", true), ("Int(count)", false),
    ("Int(exactly: level)", false), ("Int(saturating: level)", false), (".nanoseconds(Int64(level))", true),
    (".seconds(level)", true), (".seconds(5)", false), (".seconds(0.25)", false), ("Int(half * 0.5)", true),
    ("UInt8(bytes[2])", false), ("Int(samples.1)", false), ("(time.inSeconds, Int(n))", false),
  ])
  func theHeuristicFindsWhatItShould(line: String, isFound: Bool) {
    #expect(conversions(in: line, floatingNames: ["level", "wanted"]).isEmpty == !isFound, "\(line)")
  }
}
