internal import CLinux
internal import DeviceNames
internal import Glibc

/// A lamp on a GPIO line, through version 2 of the character device (linux/gpio.h).
final class GPIOLight: LightPort {
  private let device: String
  private let line: Int32
  private let calls: any GPIOCalls

  /// Requests the line as an output with its initial level, on or off.
  init(
    chip path: String, line: GPIOLine, isActiveLow: Bool, percent: Int, calls: any GPIOCalls = SystemGPIOCalls()
  ) throws(DeviceError) {
    device = "\(path)/\(line)"
    self.calls = calls
    let chip = calls.open(path)
    guard chip >= 0 else { throw DeviceError.system(-chip, device: path, operation: "open", kind: .gpio) }
    // A requested line does not need its chip's descriptor any more.
    defer { calls.close(chip) }

    var request = gpio_v2_line_request()
    request.offsets.0 = try Self.offset(of: line, on: chip, path: path, calls: calls)
    request.num_lines = 1
    withUnsafeMutableBytes(of: &request.consumer) { $0.copyBytes(from: "cradle".utf8) }
    request.config.flags = UInt64(GPIO_V2_LINE_FLAG_OUTPUT.rawValue)
    if isActiveLow { request.config.flags |= UInt64(GPIO_V2_LINE_FLAG_ACTIVE_LOW.rawValue) }
    request.config.num_attrs = 1
    request.config.attrs.0.mask = 1
    request.config.attrs.0.attr.id = UInt32(GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES.rawValue)
    request.config.attrs.0.attr.values = percent > 0 ? 1 : 0
    let number = calls.control(chip, CLINUX_GPIO_V2_GET_LINE, &request)
    guard number == 0 else {
      throw DeviceError.system(number, device: device, operation: "GPIO_V2_GET_LINE", kind: .gpio)
    }
    self.line = request.fd
  }

  deinit { calls.close(line) }

  var isDimmable: Bool { false }

  var isThere: Bool {
    var values = gpio_v2_line_values(bits: 0, mask: 1)
    return calls.control(line, CLINUX_GPIO_V2_LINE_GET_VALUES, &values) == 0
  }

  func set(percent: Int) throws(DeviceError) {
    var values = gpio_v2_line_values(bits: percent > 0 ? 1 : 0, mask: 1)
    let number = calls.control(line, CLINUX_GPIO_V2_LINE_SET_VALUES, &values)
    guard number == 0 else {
      throw DeviceError.system(number, device: device, operation: "GPIO_V2_LINE_SET_VALUES", kind: .gpio)
    }
  }

  /// The level of a released line is up to the driver; most keep the last one, so it is switched off.
  func restore() throws(DeviceError) {
    try set(percent: 0)
  }

  private static func offset(
    of line: GPIOLine, on chip: Int32, path: String, calls: any GPIOCalls
  ) throws(DeviceError) -> UInt32 {
    var info = gpiochip_info()
    let number = calls.control(chip, CLINUX_GPIO_GET_CHIPINFO, &info)
    guard number == 0 else {
      throw DeviceError.system(number, device: path, operation: "GPIO_GET_CHIPINFO", kind: .gpio)
    }
    switch line {
    case .offset(let offset) where offset < info.lines: return offset
    case .offset: break
    case .name(let name):
      for offset in 0..<min(info.lines, 1024) where lineName(offset, chip, calls) == name { return offset }
    }
    throw DeviceError(
      device: "\(path)/\(line)", reason: .notFound,
      advice: "The chip has \(info.lines) lines; `cradle-child devices` lists them.")
  }

  private static func lineName(_ offset: UInt32, _ chip: Int32, _ calls: any GPIOCalls) -> String? {
    var info = gpio_v2_line_info()
    info.offset = offset
    guard calls.control(chip, CLINUX_GPIO_V2_GET_LINEINFO, &info) == 0 else { return nil }
    return withUnsafeBytes(of: info.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// The system calls for a GPIO line.
protocol GPIOCalls: Sendable {
  /// A file descriptor, or a negated errno.
  func open(_ path: String) -> Int32
  /// ioctl(2): 0 or the errno.
  func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32
  func close(_ descriptor: Int32)
}

struct SystemGPIOCalls: GPIOCalls {
  func open(_ path: String) -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    return descriptor < 0 ? -errno : descriptor
  }

  func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
    let result = clinux_ioctl(descriptor, request, argument)
    return result < 0 ? -result : 0
  }

  func close(_ descriptor: Int32) {
    _ = Glibc.close(descriptor)
  }
}
