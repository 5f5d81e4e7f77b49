import Pairing
import Testing

@testable import Storage

@Suite struct ClockStoreTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/clock.json") }

  @Test func theDateIsKept() throws {
    let store = ClockStore(file: file)
    #expect(try store.load() == nil)
    for seconds in [0, 1_800_000_000, Int64.max] {
      try store.save(UnixTime(seconds: seconds))
      #expect(try ClockStore(file: file).load() == UnixTime(seconds: seconds))
    }
    #expect(file.currentMode() == 0o600)
  }

  @Test func theFileOfVersion1IsRead() throws {
    try file.write(Array(#"{"latest":"2026-11-21T20:00:00Z","version":1}"#.utf8))
    #expect(try ClockStore(file: file).load() == UnixTime(seconds: 1_795_291_200))
  }

  @Test(arguments: ["", "{", #"{"version":1}"#, #"{"latest":7,"version":1}"#, #"{"latest":"x","version":1}"#])
  func aDamagedFileIsAnError(text: String) throws {
    try file.write(Array(text.utf8))
    #expect {
      _ = try ClockStore(file: file).load()
    } throws: { error in
      if case .damaged? = error as? StoreError { true } else { false }
    }
  }
}
