/// What one look at something brought, for a person and for a program. `cradle-child check` and both doctors give these.
public struct Finding: Hashable, Sendable {
  public enum State: String, Sendable {
    case ok
    /// It works, but not as well as it could, or not for long.
    case warning
    /// Somebody will miss picture, sound or safety.
    case problem
    /// It could not be found out here; never a guess.
    case unknown
  }

  /// What was looked at, in a few words: `camera cot`.
  public var what: String
  public var state: State
  /// What was found, on one line.
  public var detail: String
  /// What mends it, or finds it out: a command as it is typed, else one sentence. Nil when there is nothing to do.
  public var remedy: String?

  public init(_ what: String, _ state: State, _ detail: String, remedy: String? = nil) {
    self.what = what
    self.state = state
    self.detail = detail
    self.remedy = remedy
  }

  /// `{"detail":…,"remedy":…,"state":"ok|warning|problem|unknown","what":…}`; `remedy` only where there is one.
  public var json: String {
    let remedy = remedy.map { "\"remedy\":\(Self.quoted($0))," } ?? ""
    return "{\"detail\":\(Self.quoted(detail)),\(remedy)\"state\":\"\(state.rawValue)\",\"what\":\(Self.quoted(what))}"
  }

  /// A JSON string with its quotes. RFC 8259 section 7.
  public static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 32:
        result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension [Finding] {
  public var hasProblem: Bool { contains { $0.state == .problem } }

  /// A JSON array.
  public var json: String { "[" + map(\.json).joined(separator: ",") + "]" }

  /// `2 problems, 1 warning`; `Everything is well` when there is neither.
  public var summary: String {
    let count = { (state: Finding.State, one: String, many: String) -> String? in
      let number = filter { $0.state == state }.count
      return number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
    let parts = [
      count(.problem, "problem", "problems"), count(.warning, "warning", "warnings"),
      count(.unknown, "thing not known", "things not known"),
    ].compactMap(\.self)
    return parts.isEmpty ? "Everything is well." : parts.joined(separator: ", ") + "."
  }
}
