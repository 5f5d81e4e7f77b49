internal import Control
internal import JSON

/// Reads the parameters of a command one by one and refuses any left over, so that misspelt ones are noticed.
///
/// Every method throws `bad-parameters` naming the parameter.
struct ControlParameters {
  private var members: [String: JSON]

  init(_ members: [String: JSON]) {
    self.members = members
  }

  /// Call it after reading the known parameters: throws if any are left.
  func finish() throws(ControlError) {
    guard let name = members.keys.min() else { return }
    throw .badParameter(String(name.unicodeScalars.prefix(64)), "is not a parameter of this command")
  }

  mutating func text(_ name: String, bytes: ClosedRange<Int> = ControlLimits.nameBytes) throws(ControlError) -> String?
  {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .string(let text) = value, bytes.contains(text.utf8.count) else {
      throw .badParameter(name, "is a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes")
    }
    return text
  }

  mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
      throw .badParameter(name, "is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  mutating func number(_ name: String, in range: ClosedRange<Double>) throws(ControlError) -> Double? {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .number(let number) = value, range.contains(number) else {
      throw .badParameter(name, "is a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  mutating func flag(_ name: String) throws(ControlError) -> Bool? {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .bool(let flag) = value else { throw .badParameter(name, "is true or false") }
    return flag
  }

  mutating func word<Word: RawRepresentable & CaseIterable>(_ name: String) throws(ControlError) -> Word?
  where Word.RawValue == String {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .string(let text) = value, let word = Word(rawValue: text) else {
      throw .badParameter(name, "is one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }

  mutating func texts(_ name: String, most: Int) throws(ControlError) -> [String]? {
    guard let value = members.removeValue(forKey: name) else { return nil }
    guard case .array(let elements) = value, (1...most).contains(elements.count) else {
      throw .badParameter(name, "is a list of 1 to \(most) texts")
    }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else { throw .badParameter(name, "is a list of texts") }
    return texts
  }
}
