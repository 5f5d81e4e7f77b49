import Control
import FoundationEssentials
import Notifications
import Pairing
import Storage
import TestSupport

/// One of the stores that are a JSON file.
struct CountedFile: Counted {
  private(set) var last: UInt64
  private let write: (UInt64) throws -> Void

  /// - Parameter name: `pairs`, `tokens`, `clock`, `proofs`, `notify` or `window`.
  init(_ name: String, _ folder: String) throws {
    let file = AtomicFile(path: "\(folder)/\(name).json")
    switch name {
    case "pairs":
      // The id belongs to the key.
      var store = try PairStore(file: file, hashes: TestHashes())
      last = store.book.records.first.flatMap { UInt64($0.name) } ?? 0
      write = { number in
        try store.add(
          PairRecord(
            id: "614e82506390a420", name: "\(number)", role: .parent, publicKey: Array(repeating: 1, count: 91),
            permissions: [.view, .listen], createdAt: UnixTime(seconds: 1_700_000_000)))
      }
    case "tokens":
      var store = try TokenStore(file: file, hashes: TestHashes())
      last = store.tokens.compactMap { UInt64($0.name) }.max() ?? 0
      write = { number in
        if store.tokens.count > 40, let oldest = store.tokens.first { try store.revoke(name: oldest.name) }
        _ = try store.add(name: "\(number)", allow: .view)
      }
    case "clock":
      let store = ClockStore(file: file)
      last = UInt64(try store.load()?.latest.seconds ?? 0)
      write = { number in
        let date = UnixTime(seconds: Int64(number))
        try store.save(.init(latest: date, certain: date, jump: nil))
      }
    case "proofs":
      let store = JSONStore<Proofs>(file: file)
      last = UInt64(try store.load()?.hearing?.number ?? 0)
      write = { number in
        var proofs = Proofs()
        proofs.hearing = HearingDocument(number: Int(number), state: .heard, way: "chirp", time: 1, parents: ["Mum"])
        try store.save(proofs)
      }
    case "notify":
      let store = NotificationStore(file: file)
      let (queue, trouble) = try store.load()
      if let trouble { throw trouble }
      last = UInt64(queue.last?.time ?? 0)
      write = { number in
        try store.save((0..<20).map { Notification(kind: "alarm", level: .alarm, time: Double(number), id: "\($0)") })
      }
    case "window":
      let store = WindowMemoryStore(directory: folder, name: "probe")
      last = UInt64(try store.load()?.place?.x ?? 0)
      write = { number in
        var memory = WindowMemory()
        memory.place = WindowPlace(x: Int(number), y: 0, width: 640, height: 360)
        try store.save(memory)
      }
    default: preconditionFailure("no store is called \(name)")
    }
  }

  mutating func advance() throws {
    try write(last + 1)
    last += 1
  }
}
