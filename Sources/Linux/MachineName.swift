internal import Glibc

/// What this machine is called: gethostname(2).
public enum MachineName {
  /// Empty where it has no name.
  public static var current: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
