import Pairing
import Testing
import Wire

@testable import Storage

@Suite struct ClockStoreTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/clock.json") }

  @Test func theMarkIsKept() throws {
    let store = ClockStore(file: file)
    #expect(try store.load() == nil)
    let dates = [0, 1_800_000_000, Int64.max].map { UnixTime(seconds: $0) }
    for date in dates {
      for mark in [
        TrustedClock.Mark(latest: date, certain: date, jump: nil),
        .init(latest: date, certain: nil, jump: .init(to: dates[1], evidence: .seconds(7))),
        .init(latest: date, certain: dates[0], jump: .init(to: date, evidence: .zero)),
      ] {
        try store.save(mark)
        #expect(try ClockStore(file: file).load() == mark)
      }
    }
    #expect(file.currentMode() == 0o600)
  }

  /// Of earlier versions, which did not ask how the latest date had come about: it is not certain.
  @Test func theLatestDateAloneIsAJump() throws {
    try file.write(Array(#"{"latest":"2026-11-21T20:00:00Z","version":1}"#.utf8))
    let date = UnixTime(seconds: 1_795_291_200)
    #expect(
      try ClockStore(file: file).load() == .init(latest: date, certain: nil, jump: .init(to: date, evidence: .zero)))
  }

  @Test func evidenceStaysWithinItsBounds() throws {
    for (seconds, evidence) in [("-5", 0), ("9000000000000000000", 86_400)] {
      try file.write(
        Array(
          #"{"latest":"2026-11-21T20:00:00Z","jump":{"to":"2026-11-21T20:00:00Z","seconds":\#(seconds)},"version":1}"#
            .utf8))
      #expect(try ClockStore(file: file).load()?.jump?.evidence == .seconds(evidence))
    }
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
