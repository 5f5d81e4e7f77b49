internal import CLinux
internal import Glibc
public import Linux

/// Wi-Fi: signal strength and power saving. With power saving, packets wait at the access point until the next beacon,
/// which is heard as gaps.
public enum WirelessCheck {
  // dBm. Below the first the rate falls, below the second packets get lost. Networks for voice are planned with -67.
  private static let weak = -72
  private static let tooWeak = -82

  /// One finding for each interface that is up.
  ///
  /// - Parameter powerSaving: whether an interface saves power; nil when the driver does not say.
  public static func run(
    _ files: SystemFiles, powerSaving: (String) -> Bool? = WirelessCheck.powerSaving
  ) -> [Finding] {
    let all = files.names("/sys/class/net").filter { name in
      files.exists("/sys/class/net/\(name)/wireless") || files.exists("/sys/class/net/\(name)/phy80211")
    }
    guard !all.isEmpty else { return [Finding("Wi-Fi", .ok, "this machine has none")] }
    let up = all.filter { files.line("/sys/class/net/\($0)/operstate") == "up" }
    guard !up.isEmpty else { return [Finding("Wi-Fi", .ok, "not in use")] }
    return up.flatMap { name in
      [power(name, powerSaving(name), files)] + [signal(name, files)].compactMap(\.self)
    }
  }

  /// The signal of each interface that is up.
  public static func signals(_ files: SystemFiles) -> [Finding] {
    files.names("/sys/class/net").compactMap { signal($0, files) }
  }

  /// SIOCGIWPOWER of the wireless extensions: cfg80211 supports it for its drivers, and it needs no privilege.
  public static func powerSaving(_ interface: String) -> Bool? {
    let result = clinux_wireless_power_saving(interface)
    return result < 0 ? nil : result == 1
  }

  private static func power(_ name: String, _ isSaving: Bool?, _ files: SystemFiles) -> Finding {
    let what = "Wi-Fi \(name)"
    switch isSaving {
    case false?: return Finding(what, .ok, "power saving is off")
    case nil:
      return Finding(
        what, .unknown, "the driver does not say whether it saves power", remedy: "iw dev \(name) get power_save")
    case true?:
      let now = "sudo iw dev \(name) set power_save off"
      // Otherwise the next connection switches it on again.
      let forGood =
        files.exists("/run/NetworkManager")
        ? "; sudo nmcli connection modify \"$(nmcli -g GENERAL.CONNECTION device show \(name))\" wifi.powersave 2" : ""
      return Finding(
        what, .warning, "power saving is on: picture and sound arrive in bursts, with gaps of 100 ms and more",
        remedy: now + forGood)
    }
  }

  /// From /proc/self/net/wireless (systemd's `ProcSubset=pid` hides the same file elsewhere): `wlan0: 0000   54.  -56.  -256 …`; nil where the interface is not listed.
  private static func signal(_ name: String, _ files: SystemFiles) -> Finding? {
    for fields in files.words("/proc/self/net/wireless") {
      guard fields.count > 3, fields[0] == "\(name):", let level = Int(fields[3].filter { $0 != "." }), level < 0 else {
        continue
      }
      let what = "signal \(name)"
      if level >= weak { return Finding(what, .ok, "\(level) dBm") }
      return Finding(
        what, level < tooWeak ? .problem : .warning, "weak: \(level) dBm; \(weak) or more is recommended",
        remedy: "Move the board or the access point closer, or into a line of sight.")
    }
    return nil
  }
}
