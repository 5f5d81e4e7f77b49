internal import JSON

/// What a parameter of a command may be. The words of a refusal follow its name: `"volume" is a whole number from 0 to 100`.
public struct ControlParameter: Sendable {
  public let name: String
  /// What is said when it is left out; nil: it may be.
  private let missing: String?
  /// What is wrong with a value; nil: nothing.
  private let problem: @Sendable (JSON) -> String?

  /// Throws `bad-parameters` naming it.
  func check(_ value: JSON?) throws(ControlError) {
    if let words = value.map(problem) ?? missing { throw .badParameter(name, words) }
  }

  public static func text(
    _ name: String, bytes: ClosedRange<Int> = ControlLimits.nameBytes, missing: String? = nil
  ) -> ControlParameter {
    ControlParameter(name: name, missing: missing) { value in
      guard let text = value.string, bytes.contains(text.utf8.count) else {
        return "is a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes"
      }
      return nil
    }
  }

  public static func whole(_ name: String, in range: ClosedRange<Int>, missing: String? = nil) -> ControlParameter {
    ControlParameter(name: name, missing: missing) { value in
      guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
        return "is a whole number from \(range.lowerBound) to \(range.upperBound)"
      }
      return nil
    }
  }

  public static func number(
    _ name: String, in range: ClosedRange<Double>, missing: String? = nil
  ) -> ControlParameter {
    ControlParameter(name: name, missing: missing) { value in
      guard case .number(let number) = value, range.contains(number) else {
        return "is a number from \(range.lowerBound) to \(range.upperBound)"
      }
      return nil
    }
  }

  public static func flag(_ name: String) -> ControlParameter {
    ControlParameter(name: name, missing: nil) { value in
      if case .bool = value { nil } else { "is true or false" }
    }
  }

  public static func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, of words: Word.Type, missing: String? = nil
  ) -> ControlParameter where Word.RawValue == String {
    let all = words.allCases.map(\.rawValue)
    return ControlParameter(name: name, missing: missing) { value in
      value.string.map(all.contains) == true ? nil : "is one of \(all.joined(separator: ", "))"
    }
  }

  /// A list of any texts.
  public static func texts(_ name: String, missing: String? = nil) -> ControlParameter {
    ControlParameter(name: name, missing: missing) { value in
      guard case .array(let elements) = value, elements.allSatisfy({ $0.string != nil }) else {
        return "is a list of texts"
      }
      return nil
    }
  }

  /// A list of at least one of these words. `most`: how many there may be; nil: as many as there are words.
  public static func list(_ name: String, of words: [String], most: Int? = nil) -> ControlParameter {
    let most = most ?? words.count
    return ControlParameter(name: name, missing: nil) { value in
      guard case .array(let elements) = value, (1...most).contains(elements.count) else {
        return "is a list of 1 to \(most) texts"
      }
      let texts = elements.compactMap(\.string)
      guard texts.count == elements.count else { return "is a list of texts" }
      return texts.allSatisfy(words.contains) ? nil : "is a list of \(words.joined(separator: ", "))"
    }
  }
}
