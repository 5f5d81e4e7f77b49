import Control
import Glibc
import Storage

/// Writes numbers into a store until it is killed, and says of each when it was acknowledged; first the one that it finds.
/// The test kills it at any moment.
///
///     store-probe STORE FOLDER
@main
enum StoreProbe {
  static func main() throws {
    let (name, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
    var store: any Counted = try name == "events" ? CountedEvents(folder) : CountedFile(name, folder)
    acknowledge(store.last)
    while true {
      try store.advance()
      acknowledge(store.last)
    }
  }

  private static func acknowledge(_ number: UInt64) {
    let line = Array("\(number)\n".utf8)
    guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
  }
}

/// A store that holds a number.
protocol Counted {
  var last: UInt64 { get }
  /// To a greater one.
  mutating func advance() throws
}
