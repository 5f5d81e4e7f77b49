internal import CLinux
internal import Glibc
internal import Linux

/// A GPIO chip: gpio(4), character device version 2.
public struct GPIOChipDescription: Codable, Hashable, Sendable {
  /// /dev/gpiochipN.
  public var device: String
  /// The driver's name for it.
  public var label: String
  public var lines: [Line]
  /// Why the lines could not be read.
  public var problem: String?

  public struct Line: Codable, Hashable, Sendable {
    /// As in `gpio:/dev/gpiochipN/OFFSET`.
    public var offset: Int
    /// From the device tree; empty if there is none.
    public var name: String
    /// The consumer that holds the line; empty if it is free.
    public var consumer: String
    public var isUsed: Bool
    public var isOutput: Bool
  }

  static func all() -> [GPIOChipDescription] {
    SystemFiles().names("/dev")
      .compactMap { $0.hasPrefix("gpiochip") ? Int($0.dropFirst(8)) : nil }
      .sorted().map { read("/dev/gpiochip\($0)") }
  }

  /// Queries one chip.
  public static func read(_ path: String) -> GPIOChipDescription {
    do throws(DeviceError) {
      let file = try DeviceFile(path: path, flags: O_RDONLY, kind: .gpio)
      var chip = gpiochip_info()
      try file.require("GPIO_GET_CHIPINFO", CLINUX_GPIO_GET_CHIPINFO, &chip)
      let label = withUnsafeBytes(of: chip.label) { text($0) }
      return GPIOChipDescription(
        device: path, label: label, lines: (0..<min(chip.lines, 1024)).compactMap { line($0, file) })
    } catch {
      return GPIOChipDescription(device: path, label: "", lines: [], problem: error.description)
    }
  }

  private static func line(_ offset: UInt32, _ file: borrowing DeviceFile) -> Line? {
    var info = gpio_v2_line_info()
    info.offset = offset
    guard file.control(CLINUX_GPIO_V2_GET_LINEINFO, &info) == 0 else { return nil }
    return Line(
      offset: Int(offset), name: withUnsafeBytes(of: info.name) { text($0) },
      consumer: withUnsafeBytes(of: info.consumer) { text($0) },
      isUsed: info.flags & UInt64(GPIO_V2_LINE_FLAG_USED.rawValue) != 0,
      isOutput: info.flags & UInt64(GPIO_V2_LINE_FLAG_OUTPUT.rawValue) != 0)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
