/// Levels in dB are negative, and a parser of options takes `-45` for options of its own.
public enum NegativeValues {
  /// `--vox -45` as `--vox=-45`; everything else as it is. No option of ours begins with a digit.
  public static func joined(_ arguments: [String]) -> [String] {
    var result: [String] = []
    var isOver = false
    for argument in arguments {
      if argument == "--" { isOver = true }
      if !isOver, isNegative(argument), let option = result.last, option.hasPrefix("--"), !option.contains("=") {
        result[result.count - 1] = "\(option)=\(argument)"
      } else {
        result.append(argument)
      }
    }
    return result
  }

  private static func isNegative(_ text: String) -> Bool {
    let digits = text.utf8.dropFirst()
    return text.utf8.first == UInt8(ascii: "-")
      && digits.first.map { (48...57).contains($0) || $0 == UInt8(ascii: ".") } ?? false
  }
}
