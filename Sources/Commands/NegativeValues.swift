/// Levels in dB are negative, and a parser of options takes `-45` for options of its own.
public enum NegativeValues {
  /// `--vox -45` as `--vox=-45`, and `volume -3` as `volume -- -3`; everything else as it is. No option of ours begins with a
  /// digit, so what cannot be is refused as a value, with its range.
  ///
  /// - Parameter isFlag: whether an option (`--json`) takes no value. Asked for those with a negative number behind them.
  public static func joined(_ arguments: [String], isFlag: (String) -> Bool) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    var result: [String] = []
    var values: [String] = []
    for argument in arguments[..<end] {
      if !isNegative(argument) {
        result.append(argument)
      } else if let option = result.last, option.hasPrefix("--"), !option.contains("="), !isFlag(option) {
        result[result.count - 1] = "\(option)=\(argument)"
      } else {
        values.append(argument)
      }
    }
    let rest = values + arguments[end...].dropFirst()
    return end == arguments.endIndex && values.isEmpty ? result : result + ["--"] + rest
  }

  private static func isNegative(_ text: String) -> Bool {
    let digits = text.utf8.dropFirst()
    return text.utf8.first == UInt8(ascii: "-")
      && digits.first.map { (48...57).contains($0) || $0 == UInt8(ascii: ".") } ?? false
  }
}
