import TestSupport
import Testing

@testable import Health

/// A machine's files, faked: what each check makes of them.
@Suite struct MachineTests {
  // MARK: Clock

  @Test func aClockThatNobodySetsIsAWarningAndOneInThePastAProblem() {
    let now: Int64 = 1_780_000_000
    #expect(ClockCheck.run(.synchronized, unixSeconds: now).state == .ok)
    let unsynchronized = ClockCheck.run(.unsynchronized, unixSeconds: now)
    #expect(unsynchronized.state == .warning)
    #expect(unsynchronized.remedy == "sudo timedatectl set-ntp true")
    #expect(ClockCheck.run(.synchronized, unixSeconds: 86_400).state == .problem)
    #expect(ClockCheck.run(.refused, unixSeconds: now).state == .unknown)
  }

  // MARK: Disk

  @Test func aFullDiskIsAProblem() {
    let space = { (free: UInt64, isReadOnly: Bool) in
      DiskCheck.run(path: "/var/lib/cradle", space: .init(free: free, total: 30 << 30, isReadOnly: isReadOnly))
    }
    #expect(space(20 << 30, false).state == .ok)
    #expect(space(20 << 30, false).detail == "20 GB of 30 GB free at /var/lib/cradle")
    #expect(space(100 << 20, false).state == .warning)
    #expect(space(0, false).state == .problem)
    #expect(space(0, false).remedy != nil)
    #expect(space(20 << 30, true).detail.contains("read-only"))
    #expect(space(20 << 30, true).state == .problem)
    #expect(DiskCheck.run(path: "/x", space: nil).state == .unknown)
  }

  @Test func theDiskOfADirectoryThatIsNotMadeYetIsThatOfTheOneAbove() throws {
    let there = try #require(DiskCheck.space(at: "/"))
    let missing = try #require(DiskCheck.space(at: "/no such directory/nor this"))
    #expect(there.total == missing.total)
    #expect(there.total > 0)
  }

  // MARK: Memory

  private static func memory(available: Int, swap: String = "SwapTotal:      0 kB\nSwapFree:       0 kB\n") throws
    -> Finding
  {
    let root = try FakeRoot([
      "/proc/meminfo":
        "MemTotal:        948216 kB\nMemFree:          61234 kB\nMemAvailable:   \(available) kB\n\(swap)"
    ])
    return MemoryCheck.run(root.files)
  }

  @Test func littleMemoryIsAWarningAndNoneAProblem() throws {
    #expect(try Self.memory(available: 600_000).state == .ok)
    #expect(try Self.memory(available: 600_000).detail == "585 of 925 MB available, no swap")
    #expect(try Self.memory(available: 80_000).state == .warning)
    #expect(try Self.memory(available: 20_000).state == .problem)
    let swapping = try Self.memory(available: 600_000, swap: "SwapTotal: 102396 kB\nSwapFree: 51196 kB\n")
    #expect(swapping.detail.hasSuffix("50 of 99 MB swap in use"))
    #expect(MemoryCheck.run(try FakeRoot().files).state == .unknown)
  }

  // MARK: Wi-Fi

  private static func wireless(_ state: String = "up", level: Int? = -56) throws -> FakeRoot {
    let root = try FakeRoot(["/sys/class/net/wlan0/operstate": "\(state)\n", "/sys/class/net/eth0/operstate": "up\n"])
    try root.makeDirectory("/sys/class/net/wlan0/wireless")
    if let level {
      try root.write(
        "/proc/self/net/wireless",
        """
        Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
         face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
         wlan0: 0000   54.  \(level).  -256        0      0      0      0      0        0

        """)
    }
    return root
  }

  @Test func powerSavingIsAWarningWithTheCommandThatEndsIt() throws {
    let root = try Self.wireless()
    let on = WirelessCheck.run(root.files) { name in name == "wlan0" }
    #expect(on.map(\.what) == ["Wi-Fi wlan0", "signal wlan0"])
    #expect(on[0].state == .warning)
    #expect(on[0].remedy == "sudo iw dev wlan0 set power_save off")
    #expect(WirelessCheck.run(root.files) { _ in false }[0].state == .ok)
    let unknown = WirelessCheck.run(root.files) { _ in nil }[0]
    #expect(unknown.state == .unknown)
    #expect(unknown.remedy == "iw dev wlan0 get power_save")
    // NetworkManager would switch it on again.
    try root.makeDirectory("/run/NetworkManager")
    #expect(WirelessCheck.run(root.files) { _ in true }[0].remedy?.contains("nmcli") == true)
  }

  @Test func aWeakSignalIsTold() throws {
    let state = { (level: Int) in WirelessCheck.run(try Self.wireless(level: level).files) { _ in false }[1].state }
    #expect(try state(-56) == .ok)
    #expect(try state(-75) == .warning)
    #expect(try state(-88) == .problem)
    #expect(WirelessCheck.run(try Self.wireless(level: nil).files) { _ in false }.count == 1)
  }

  @Test func aCableNeedsNoWireless() throws {
    #expect(WirelessCheck.run(try Self.wireless("down").files) { _ in true } == [Finding("Wi-Fi", .ok, "not in use")])
    let cable = try FakeRoot(["/sys/class/net/eth0/operstate": "up\n"])
    #expect(WirelessCheck.run(cable.files) { _ in true } == [Finding("Wi-Fi", .ok, "this machine has none")])
    // What is no Wi-Fi interface does not say that it saves power.
    #expect(WirelessCheck.powerSaving("lo") == nil)
    #expect(WirelessCheck.powerSaving("a name that no interface has") == nil)
  }

  // MARK: Power and temperature

  @Test(
    arguments: [
      ("0\n", Finding.State.ok), ("50005\n", .problem), ("1", .problem), ("50000\n", .warning), ("10000\n", .warning),
      ("40000\n", .ok),
    ])
  func undervoltageIsReadFromThePisFirmware(bits: String, state: Finding.State) throws {
    let root = try FakeRoot(["/sys/devices/platform/soc/soc:firmware/get_throttled": bits])
    #expect(PowerCheck.run(root.files)?.state == state)
    // A Pi 5 has its bus's address in the name.
    let five = try FakeRoot(["/sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled": "0x\(bits)"])
    #expect(PowerCheck.run(five.files)?.state == state)
  }

  @Test func theVoltageSensorStandsInForTheFirmware() throws {
    let state = { (alarm: Int) in
      let root = try FakeRoot([
        "/sys/class/hwmon/hwmon0/name": "cpu_thermal\n", "/sys/class/hwmon/hwmon1/name": "rpi_volt\n",
        "/sys/class/hwmon/hwmon1/in0_lcrit_alarm": "\(alarm)\n",
      ])
      return PowerCheck.run(root.files)?.state
    }
    #expect(try state(0) == .ok)
    #expect(try state(1) == .problem)
  }

  @Test func otherMachinesTellNothingOfTheirSupply() throws {
    #expect(PowerCheck.run(try FakeRoot().files) == nil)
    let silent = try FakeRoot(["/proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0"])
    #expect(PowerCheck.run(silent.files)?.state == .unknown)
  }

  @Test func heatIsTold() throws {
    let check = { (throttled: String, temperature: Int) in
      let root = try FakeRoot([
        "/sys/devices/platform/soc/soc:firmware/get_throttled": throttled,
        "/sys/class/thermal/thermal_zone0/temp": "\(temperature)\n", "/sys/class/thermal/thermal_zone1/temp": "20000\n",
      ])
      return TemperatureCheck.run(root.files)
    }
    #expect(try check("0", 51_540) == Finding("temperature", .ok, "51 °C"))
    #expect(try check("0", 81_000)?.state == .warning)
    #expect(try check("0", 86_000)?.state == .problem)
    // A Pi 3B+ slows down from 60 °C on, and says so.
    #expect(try check("8", 62_000)?.state == .warning)
    #expect(try check("80000", 51_540)?.state == .warning)
    #expect(TemperatureCheck.run(try FakeRoot().files) == nil)
  }
}
