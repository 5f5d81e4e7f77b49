import FoundationEssentials
import Logging
import Pairing
import Storage
import Testing
import Wire

@testable import Child

@Suite struct ExpiryClockTests {
  /// A board without a clock of its own, at its first start and after one at which the date was known.
  @Test func aDateOf1970IsLoggedAtTheStart() {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func logged(at seconds: Int64) -> [String] {
      let log = CollectedLog()
      let source = ExpiryClock.Source(system: { UnixTime(seconds: seconds) }, monotonic: { .zero })
      let clock = ExpiryClock(
        ClockStore(file: AtomicFile(path: folder + "/clock.json")), source: source,
        logger: Logger(label: "test") { _ in log })
      _ = clock.now
      clock.save()
      return log.all
    }
    let first = logged(at: 40)
    #expect(
      first.count == 1 && first[0].contains("years in the past") && first[0].hasSuffix("now=1970-01-01T00:00:40Z"),
      "\(first)")
    #expect(logged(at: 1_790_000_000).allSatisfy { !$0.contains("in the past") })
    let later = logged(at: 40)
    #expect(later.count == 1 && later[0].contains("is behind one seen before"), "\(later)")
  }
}
