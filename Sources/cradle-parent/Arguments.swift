public import ArgumentParser
public import Control

// Types of arguments besides texts and numbers.

extension LightSet.Switch: ExpressibleByArgument {}
extension EventLevel: ExpressibleByArgument {}

/// The range of an option.
enum Bounds {
  static func check(_ value: Int?, _ range: ClosedRange<Int>, _ option: String, _ unit: String = "") throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError("\(option) is \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : " \(unit)").")
  }

  /// Seconds: more than none.
  static func check(_ seconds: Double?, below limit: Int, _ option: String) throws {
    guard let seconds, !(seconds > 0 && seconds < Double(limit)) else { return }
    throw ValidationError("\(option) is more than 0 and less than \(limit) seconds.")
  }
}
