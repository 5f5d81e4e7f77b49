import Foundation
import Logging
import NIOPosix
import Storage
import Testing
import Wire

@testable import Child

/// When somebody paused the cameras, by a clock that is set meanwhile: what the schedule asks before it does the contrary.
@Suite struct CameraKeeperTests {
  private final class Clock {
    var instant: Instant = .zero + .seconds(100)
    /// By the wall.
    var seconds: Int64 = 1_800_000_000
    var reference: WallClockReference {
      WallClockReference(instant: instant, unixNanoseconds: seconds * 1_000_000_000)
    }

    func pass(_ seconds: Int64) {
      instant = instant + .seconds(seconds)
      self.seconds += seconds
    }
  }

  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-cameras-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static func keeper(_ folder: URL, _ clock: Clock) throws -> CameraKeeper {
    let directory = try StateDirectory(path: folder.path)
    return CameraKeeper(
      JSONStore(file: directory.cameras), loop: MultiThreadedEventLoopGroup.singleton.any(),
      logger: Logger(label: "test"),
      clock: { clock.reference })
  }

  @Test(arguments: [9000, -9000, 86_400 * 400] as [Int64])
  func anOrderIsAsOldAsItIsWhateverTheClockShowedThen(step: Int64) throws {
    let (folder, clock) = (try Self.folder(), Clock())
    defer { try? FileManager.default.removeItem(at: folder) }
    let keeper = try Self.keeper(folder, clock)
    _ = keeper.setPaused(true)
    clock.pass(60)
    clock.seconds += step
    #expect(keeper.isPaused && keeper.changedAt == Double(clock.seconds - 60))
  }

  /// In the run before the clock was a day ahead: what comes due from now on is later than that order.
  @Test func noOrderOfAnEarlierRunIsLaterThanThisOne() throws {
    let (folder, clock) = (try Self.folder(), Clock())
    defer { try? FileManager.default.removeItem(at: folder) }
    let stored = #"{"titles":{},"version":1,"isPaused":true,"changedAt":\#(clock.seconds + 86_400)}"#
    try Data(stored.utf8).write(to: folder.appending(path: "cameras.json"))
    let keeper = try Self.keeper(folder, clock)
    #expect(keeper.isPaused && keeper.changedAt == Double(clock.seconds))
    clock.pass(600)
    #expect(keeper.changedAt == Double(clock.seconds - 600))
    // One whose time can be right keeps it.
    clock.pass(86_400 * 2)
    let later = try Self.keeper(folder, clock)
    #expect(later.changedAt == 1_800_086_400)
  }
}
