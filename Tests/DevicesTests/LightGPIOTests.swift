import CLinux
import DeviceNames
import Glibc
import Synchronization
import Testing

@testable import Devices

/// A chip of four lines behind the requests of linux/gpio.h.
private final class FakeChip: GPIOCalls {
  struct Content {
    var names = ["", "GPIO1", "LAMP", "LAMP"]
    /// The pin's voltage, by offset.
    var pins = [false, false, false, false]
    var taken: Set<UInt32> = []
    var requested: [gpio_v2_line_request] = []
    /// Descriptors by number: a chip, or a line.
    var open: [Int32: Line?] = [:]
    var nextDescriptor: Int32 = 100
    var isGone = false
  }

  struct Line {
    var offset: UInt32
    var isActiveLow: Bool
  }

  let content = Mutex(Content())

  var pins: [Bool] { content.withLock { $0.pins } }
  var openDescriptors: Int { content.withLock { $0.open.count } }

  func open(_ path: String) -> Int32 {
    content.withLock { content in
      guard path == "/dev/gpiochip7", !content.isGone else { return -ENOENT }
      return content.add(nil)
    }
  }

  func close(_ descriptor: Int32) {
    content.withLock { content in
      if case .some(.some(let line)) = content.open.removeValue(forKey: descriptor) {
        content.taken.remove(line.offset)
      }
    }
  }

  func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
    content.withLock { content in
      guard let line = content.open[descriptor] else { return EBADF }
      if content.isGone { return ENODEV }
      switch (request, line) {
      case (CLINUX_GPIO_GET_CHIPINFO, nil):
        argument.assumingMemoryBound(to: gpiochip_info.self).pointee.lines = UInt32(content.names.count)
      case (CLINUX_GPIO_V2_GET_LINEINFO, nil):
        let info = argument.assumingMemoryBound(to: gpio_v2_line_info.self)
        guard info.pointee.offset < content.names.count else { return EINVAL }
        let name = content.names[Int(info.pointee.offset)]
        withUnsafeMutableBytes(of: &info.pointee.name) { $0.copyBytes(from: name.utf8) }
      case (CLINUX_GPIO_V2_GET_LINE, nil):
        let wanted = argument.assumingMemoryBound(to: gpio_v2_line_request.self)
        return content.take(&wanted.pointee)
      case (CLINUX_GPIO_V2_LINE_SET_VALUES, .some(let line)):
        let values = argument.assumingMemoryBound(to: gpio_v2_line_values.self).pointee
        guard values.mask == 1 else { return EINVAL }
        content.pins[Int(line.offset)] = (values.bits & 1 == 1) != line.isActiveLow
      case (CLINUX_GPIO_V2_LINE_GET_VALUES, .some): break
      default: return ENOTTY
      }
      return 0
    }
  }
}

extension FakeChip.Content {
  fileprivate mutating func add(_ line: FakeChip.Line?) -> Int32 {
    nextDescriptor += 1
    open[nextDescriptor] = .some(line)
    return nextDescriptor
  }

  fileprivate mutating func take(_ request: inout gpio_v2_line_request) -> Int32 {
    requested.append(request)
    let offset = request.offsets.0
    guard request.num_lines == 1, offset < pins.count, request.config.num_attrs == 1 else { return EINVAL }
    guard request.config.attrs.0.attr.id == GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES.rawValue,
      request.config.attrs.0.mask == 1, request.config.flags & UInt64(GPIO_V2_LINE_FLAG_OUTPUT.rawValue) != 0
    else { return EINVAL }
    guard taken.insert(offset).inserted else { return EBUSY }
    let isActiveLow = request.config.flags & UInt64(GPIO_V2_LINE_FLAG_ACTIVE_LOW.rawValue) != 0
    pins[Int(offset)] = (request.config.attrs.0.attr.values & 1 == 1) != isActiveLow
    request.fd = add(FakeChip.Line(offset: offset, isActiveLow: isActiveLow))
    return 0
  }
}

struct LightGPIOTests {
  private let chip = FakeChip()

  private func light(_ line: GPIOLine, isActiveLow: Bool = false) -> Light {
    let device = LightDevice.gpio(chip: "/dev/gpiochip7", line: line, isActiveLow: isActiveLow)
    return Light(device) { [chip] (percent) throws(DeviceError) in
      try GPIOLight(chip: "/dev/gpiochip7", line: line, isActiveLow: isActiveLow, percent: percent, calls: chip)
    }
  }

  @Test func aLineIsSwitchedAndOffInTheEnd() throws {
    let light = light(.offset(1))
    #expect(light.refresh() == .ready(isDimmable: false))
    try light.setLevel(100)
    #expect(chip.pins == [false, true, false, false])
    try light.setLevel(0)
    #expect(chip.pins == [false, false, false, false])
    try light.setLevel(100)
    light.close()
    #expect(chip.pins == [false, false, false, false])
    #expect(chip.openDescriptors == 0)
  }

  @Test func theLineSaysWhoHoldsIt() throws {
    let light = light(.offset(1))
    try light.setLevel(100)
    let request = try #require(chip.content.withLock { $0.requested.first })
    let consumer = withUnsafeBytes(of: request.consumer) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    #expect(consumer == "cradle")
  }

  @Test func anActiveLowLineIsHighWhileItIsOff() throws {
    let light = light(.offset(0), isActiveLow: true)
    _ = light.refresh()
    #expect(chip.pins[0])
    try light.setLevel(100)
    #expect(!chip.pins[0])
    light.close()
    #expect(chip.pins[0])
  }

  @Test func aLineIsFoundByItsName() throws {
    let light = light(.name("LAMP"))
    try light.setLevel(100)
    #expect(chip.pins == [false, false, true, false])
  }

  @Test func aLineThatIsNotThereIsExplained() {
    for line in [GPIOLine.offset(4), .name("LAMPS"), .offset(.max)] {
      let error = #expect(throws: DeviceError.self) { try light(line).setLevel(100) }
      #expect(error?.reason == .notFound)
      #expect(error?.description.contains("The chip has 4 lines; `cradle-child devices` lists them.") == true)
    }
    #expect(chip.openDescriptors == 0)
  }

  @Test func aLineInUseIsExplained() throws {
    let first = light(.offset(2))
    try first.setLevel(100)
    let error = #expect(throws: DeviceError.self) { try light(.name("LAMP")).setLevel(100) }
    #expect(error?.description.hasPrefix("/dev/gpiochip7/LAMP: in use by another program. Close") == true)
    first.close()
  }

  @Test func aChipThatWasPulledOutIsUsedAgain() throws {
    let light = light(.offset(3))
    try light.setLevel(100)
    chip.content.withLock {
      $0.isGone = true
      $0.pins[3] = false
    }
    let error = #expect(throws: DeviceError.self) { try light.setLevel(0) }
    #expect(error?.reason == .notFound)
    guard case .missing = light.refresh() else {
      Issue.record("it is said to be there")
      return
    }
    chip.content.withLock { $0.isGone = false }
    #expect(light.refresh() == .ready(isDimmable: false))
    #expect(chip.pins[3])
    light.close()
    #expect(chip.openDescriptors == 0)
  }
}
