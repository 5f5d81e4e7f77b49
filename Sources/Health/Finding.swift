/// The result of one check, for people and programs. `cradle-child check` and both doctors produce these.
public struct Finding: Encodable, Hashable, Sendable {
  public enum State: String, Encodable, Sendable {
    case ok
    /// Works, but not as well as it could, or not for long.
    case warning
    /// Picture, sound or safety suffer.
    case problem
    /// Could not be determined here. Never a guess.
    case unknown
  }

  /// What was checked, in a few words: `camera cot`.
  public var what: String
  public var state: State
  /// What was found, on one line.
  public var detail: String
  /// How to fix it, or to find out more: a command as it is typed, or one sentence. Nil when there is nothing to do.
  public var remedy: String?
  /// It is over, but has been since the machine started.
  public var isPast = false

  public init(_ what: String, _ state: State, _ detail: String, remedy: String? = nil) {
    self.what = what
    self.state = state
    self.detail = detail
    self.remedy = remedy
  }

  private enum CodingKeys: String, CodingKey {
    case what, state, detail, remedy
  }
}

extension [Finding] {
  public var hasProblem: Bool { contains { $0.state == .problem } }

  /// `2 problems, 1 warning`; `Everything is well.` when there is neither.
  public var summary: String {
    let count = { (state: Finding.State, one: String, many: String) -> String? in
      let number = filter { $0.state == state }.count
      return number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
    let parts = [
      count(.problem, "problem", "problems"), count(.warning, "warning", "warnings"),
      count(.unknown, "thing unknown", "things unknown"),
    ].compactMap(\.self)
    return parts.isEmpty ? "Everything is well." : parts.joined(separator: ", ") + "."
  }
}
