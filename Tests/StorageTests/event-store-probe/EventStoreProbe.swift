import Control
import Glibc
import NightReport
import Storage

/// Appends events to the store in a folder until it is killed, and says after each commit which number was acknowledged.
/// The test kills it at any moment.
@main
enum EventStoreProbe {
  static func main() throws {
    let store = try EventStore(folder: CommandLine.arguments[1])
    acknowledge(store.lastSequence)
    var size = 1
    while true {
      let first = store.lastSequence + 1
      let events = (first..<first + UInt64(size)).map { sequence in
        EventDocument(
          sequence: sequence, kind: "light", level: "notice", time: Double(sequence), name: "mother",
          detail: String(repeating: "\(sequence) ", count: Int(sequence % 19) + 1))
      }
      let minute = MinuteRecord(
        minute: Int64(first), isDelivered: true, peak: -400, mean: -600, listeners: ["mother", "\(first % 7)"])
      try store.append(events, minutes: [minute])
      acknowledge(store.lastSequence)
      // Large commits, too: those that fill the log and are moved into the database.
      size = size % 40 + 1
    }
  }

  private static func acknowledge(_ sequence: UInt64) {
    let line = Array("\(sequence)\n".utf8)
    guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
  }
}
