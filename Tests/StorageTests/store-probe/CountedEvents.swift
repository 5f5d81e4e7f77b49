import Control
import NightReport
import Storage

/// The events' store: the number is that of the last event.
struct CountedEvents: Counted {
  private let store: EventStore
  private var size = 1

  init(_ folder: String) throws {
    store = try EventStore(folder: folder)
  }

  var last: UInt64 { store.lastSequence }

  mutating func advance() throws {
    let first = last + 1
    let events = (first..<first + UInt64(size)).map { sequence in
      EventDocument(
        sequence: sequence, kind: "light", level: "notice", time: Double(sequence), name: "mother",
        detail: String(repeating: "\(sequence) ", count: Int(sequence % 19) + 1))
    }
    let minute = MinuteRecord(
      minute: Int64(first), isDelivered: true, peak: -400, mean: -600, listeners: ["mother", "\(first % 7)"])
    try store.append(events, minutes: [minute])
    // Large commits, too: those that fill the log and are moved into the database.
    size = size % 40 + 1
  }
}
