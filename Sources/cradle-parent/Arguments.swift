public import ArgumentParser
public import Control

// What stands on the command line beside texts and numbers.

extension LightSetting.Switch: ExpressibleByArgument {}

/// What an option may be.
enum Bounds {
  static func check(_ value: Int?, _ range: ClosedRange<Int>, _ option: String, _ unit: String = "") throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError("\(option) is \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : " \(unit)").")
  }
}
