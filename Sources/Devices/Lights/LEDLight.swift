internal import Glibc

/// A lamp of the LED class: Documentation/leds/leds-class.rst of the kernel.
final class LEDLight: LightPort {
  private let path: String
  /// Inode of the directory behind the link; an unplugged lamp that comes back has a different one.
  private let inode: ino_t
  private let maximum: Int
  /// Brightness and trigger before we took over; no trigger if none was active.
  private let savedBrightness: String?
  private let savedTrigger: String?

  init(path: String, percent: Int) throws(DeviceError) {
    guard let inode = Self.inode(of: path) else {
      throw DeviceError.system(errno, device: path, operation: "stat", kind: .led)
    }
    guard let maximum = Self.read("\(path)/max_brightness").flatMap({ Int($0) }), maximum > 0 else {
      throw DeviceError(
        device: path, reason: .invalidFile("not a lamp: max_brightness is missing"),
        advice: "Name a directory such as /sys/class/leds/NAME.")
    }
    self.path = path
    self.inode = inode
    self.maximum = maximum
    savedBrightness = Self.read("\(path)/brightness")
    savedTrigger = Self.read("\(path)/trigger").flatMap(Self.active).flatMap { $0 == "none" ? nil : $0 }
    // An active trigger would keep switching the lamp. Removing it switches the lamp off.
    do {
      if savedTrigger != nil { try write("none", to: "trigger") }
      try set(percent: percent)
    } catch {
      try? restore()
      throw error
    }
  }

  var isDimmable: Bool { maximum > 1 }
  var isThere: Bool { Self.inode(of: path) == inode }

  func set(percent: Int) throws(DeviceError) {
    // Rounded, but never off for a level above 0.
    let level = percent == 0 ? 0 : max(1, (Int64(maximum) * Int64(percent) + 50) / 100)
    try write("\(level)", to: "brightness")
  }

  func restore() throws(DeviceError) {
    if let savedBrightness { try write(savedBrightness, to: "brightness") }
    if let savedTrigger { try write(savedTrigger, to: "trigger") }
  }

  /// "none [heartbeat] timer" → "heartbeat".
  static func active(inTriggers text: String) -> String? {
    text.split(separator: " ").first { $0.hasPrefix("[") && $0.hasSuffix("]") }.map {
      String($0.dropFirst().dropLast())
    }
  }

  private func write(_ text: String, to name: String) throws(DeviceError) {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CLOEXEC | O_TRUNC)
    guard descriptor >= 0 else { throw DeviceError.system(errno, device: file, operation: "open", kind: .led) }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, text, text.utf8.count) >= 0 else {
      throw DeviceError.system(errno, device: file, operation: "write", kind: .led)
    }
  }

  private static func inode(of path: String) -> ino_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_ino : nil
  }

  /// A sysfs file must be read in one call; the trigger list has an entry for each disk and network card.
  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      guard count > 0 else { return nil }
      return String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
  }
}
