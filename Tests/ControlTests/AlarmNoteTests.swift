import Control
import Testing

@Suite struct AlarmNoteTests {
  private func limited(_ began: Double, _ acknowledgedAt: Double? = nil, since: Double = 10_000) -> [Double?] {
    let note = AlarmNote(kind: "link", level: .alarm, began: began, acknowledgedAt: acknowledgedAt)
      .limited(since: since, now: 50_000)
    #expect(note.kind == "link" && note.level == .alarm)
    return [note.began, note.acknowledgedAt]
  }

  @Test func timesThatCanBeStayWhatTheyAre() {
    #expect(limited(20_000, 20_010) == [20_000, 20_010])
    #expect(limited(20_000) == [20_000, nil])
    // A parent's clock may be some minutes ahead or behind.
    #expect(limited(50_299, 50_300) == [50_299, 50_300])
    #expect(limited(9_701) == [9_701, nil])
  }

  @Test func nothingRangInTheFutureOrBeforeThePairing() {
    #expect(limited(80_000_000, 80_000_001) == [50_000, 50_000])
    #expect(limited(20_000, 80_000_001) == [20_000, 50_000])
    #expect(limited(0, 1) == [9_700, 9_700])
    #expect(limited(20_000, 19_000) == [20_000, 20_000])
    // The child's clock was set back since the pairing.
    #expect(limited(49_000, since: 90_000) == [49_700, nil])
    #expect(limited(.greatestFiniteMagnitude, -.greatestFiniteMagnitude) == [50_000, 50_000])
  }
}
