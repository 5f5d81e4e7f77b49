import Control
import Monitoring
import Storage
import TestSupport
import Testing

@testable import Child
@testable import Health

@Suite struct HealthProbeTests {
  private static let now: Int64 = 1_790_000_000
  private static let roomy = DiskCheck.Space(free: 20 << 30, total: 30 << 30, isReadOnly: false)
  private static let throttled = "/sys/devices/platform/soc/soc:firmware/get_throttled"

  private func conditions(
    _ probe: inout HealthProbe, space: DiskCheck.Space? = roomy, clock: ClockCheck.Kernel = .synchronized,
    at time: Int64 = now
  ) -> [String] {
    probe.run(unixSeconds: time, space: { _ in space }, clock: clock).map {
      "\($0.concern.rawValue) \($0.level.rawValue)"
    }
  }

  @Test func aWellMachineHasNothingToTell() throws {
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", files: try FakeRoot().files)
    #expect(conditions(&probe) == [])
  }

  @Test func storageAndClockAreTold() throws {
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", files: try FakeRoot().files)
    #expect(conditions(&probe, space: .init(free: 0, total: 30 << 30, isReadOnly: false)) == ["storage warning"])
    #expect(conditions(&probe, space: .init(free: 9 << 30, total: 30 << 30, isReadOnly: true)) == ["storage warning"])
    #expect(conditions(&probe, space: .init(free: 100 << 20, total: 30 << 30, isReadOnly: false)) == ["storage notice"])
    #expect(conditions(&probe, clock: .unsynchronized) == ["clock notice"])
    #expect(conditions(&probe, at: 100) == ["clock warning"])
    #expect(conditions(&probe, space: nil, clock: .refused) == [])
  }

  /// A disk for recordings alone counts, and so does one with too little room for them.
  @Test func theDiskOfRecordingsIsTold() throws {
    var recording = ChildConfiguration.defaults.recording
    recording.mode = .always
    recording.folder = "/nonexistent/recordings"
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", recording: recording, files: try FakeRoot().files)
    func sentences(_ free: UInt64) -> [String] {
      probe.run(
        unixSeconds: Self.now,
        space: { $0 == recording.folder ? .init(free: free, total: 1 << 30, isReadOnly: false) : Self.roomy },
        clock: .synchronized
      ).map(\.sentence)
    }
    #expect(sentences(900 << 20) == [])
    #expect(
      sentences(300 << 20) == [
        "Storage: nothing is recorded: 300 MB are free at /nonexistent/recordings, and recording needs 370 MB"
      ])
    #expect(sentences(0) == ["Storage: the disk is full: 0 kB of 1024 MB free at /nonexistent/recordings"])
    recording.mode = .off
    probe = HealthProbe(stateDirectory: "/var/lib/cradle", recording: recording, files: try FakeRoot().files)
    #expect(sentences(0) == [])
  }

  /// `status` shows them without anything around.
  @Test func aSentenceNamesWhatItIsAbout() throws {
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", files: try FakeRoot().files)
    let full = probe.run(
      unixSeconds: 100, space: { _ in .init(free: 0, total: 600 << 10, isReadOnly: false) }, clock: .synchronized)
    #expect(
      full.map(\.sentence) == [
        "Storage: the disk is full: 0 kB of 600 kB free at /var/lib/cradle",
        "Clock: the date is years in the past (1970): nothing has set this machine's clock since it started",
      ])
  }

  @Test func temperatureAndSignalAreTold() throws {
    let root = try FakeRoot([
      "/sys/class/thermal/thermal_zone0/temp": "86000\n", "/sys/class/net/wlan0/operstate": "up\n",
      "/proc/self/net/wireless": " wlan0: 0000   54.  -85.  -256        0      0      0      0      0        0\n",
    ])
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", files: root.files)
    #expect(conditions(&probe) == ["wireless warning", "temperature warning"])
    try root.write("/sys/class/thermal/thermal_zone0/temp", "81000\n")
    try root.write(
      "/proc/self/net/wireless", " wlan0: 0000   54.  -75.  -256        0      0      0      0      0        0\n")
    #expect(conditions(&probe) == ["wireless notice", "temperature notice"])
  }

  /// The firmware's bits of what has been stay until the board is switched off.
  @Test func whatIsOverIsFoundOnce() throws {
    let root = try FakeRoot([Self.throttled: "50000\n"])
    var probe = HealthProbe(stateDirectory: "/var/lib/cradle", files: root.files)
    #expect(conditions(&probe) == ["power notice"])
    #expect(conditions(&probe) == [])
    try root.write(Self.throttled, "50005\n")
    #expect(conditions(&probe) == ["power warning"])
    try root.write(Self.throttled, "50000\n")
    #expect(conditions(&probe) == [])
  }
}
