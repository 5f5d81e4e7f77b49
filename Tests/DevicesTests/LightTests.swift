import DeviceNames
import Foundation
import Synchronization
import Testing

@testable import Devices

/// A lamp that can be pulled out. Its socket remembers what shines.
private final class Socket: Sendable {
  struct Content {
    var isPlugged = true
    var isDimmable = true
    var refusesToSwitch = false
    var opened: [Int] = []
    var percent = 0
    var restored = 0
    var generation = 0
  }

  let content = Mutex(Content())

  static let gone = DeviceError(device: "lamp", reason: .disconnected)

  func light() -> Light {
    Light(.simulated) { [self] (percent) throws(DeviceError) in
      try content.withLock { (content) throws(DeviceError) in
        guard content.isPlugged else { throw Self.gone }
        content.opened.append(percent)
        content.percent = percent
        return Port(socket: self, isDimmable: content.isDimmable, generation: content.generation)
      }
    }
  }

  func plug(_ isPlugged: Bool) {
    content.withLock {
      $0.isPlugged = isPlugged
      $0.percent = 0
      $0.generation += 1
    }
  }

  private final class Port: LightPort {
    let socket: Socket
    let isDimmable: Bool
    let generation: Int

    init(socket: Socket, isDimmable: Bool, generation: Int) {
      (self.socket, self.isDimmable, self.generation) = (socket, isDimmable, generation)
    }

    var isThere: Bool { socket.content.withLock { $0.generation == generation } }

    func set(percent: Int) throws(DeviceError) {
      try socket.content.withLock { (content) throws(DeviceError) in
        guard content.generation == generation else { throw Socket.gone }
        if content.refusesToSwitch { throw DeviceError(device: "lamp", reason: .busy) }
        content.percent = percent
      }
    }

    func restore() throws(DeviceError) {
      try set(percent: 0)
      socket.content.withLock { $0.restored += 1 }
    }
  }
}

struct LightTests {
  private let socket = Socket()

  private var percent: Int { socket.content.withLock { $0.percent } }

  @Test func shinesAsAskedAndIsRestoredOnce() throws {
    let light = socket.light()
    try light.setLevel(40)
    #expect(percent == 40)
    try light.setLevel(200)
    #expect(percent == 100)
    try light.setLevel(-5)
    #expect(percent == 0)
    #expect(light.refresh() == .ready(isDimmable: true))
    light.close()
    light.close()
    #expect(socket.content.withLock { $0.restored } == 1)
    #expect(light.refresh() == .closed)
    #expect(throws: DeviceError.self) { try light.setLevel(1) }
  }

  @Test func aLampThatComesBackShinesAsBefore() throws {
    let light = socket.light()
    try light.setLevel(70)
    socket.plug(false)
    #expect(light.refresh() == .missing(Socket.gone))
    #expect(light.refresh() == .missing(Socket.gone))
    socket.plug(true)
    #expect(light.refresh() == .ready(isDimmable: true))
    #expect(percent == 70)
    // At once, without a moment of another brightness.
    #expect(socket.content.withLock { $0.opened } == [0, 70])
  }

  @Test func anExchangeThatNobodySawIsNoticed() throws {
    let light = socket.light()
    try light.setLevel(70)
    socket.plug(false)
    socket.plug(true)
    #expect(light.refresh() == .ready(isDimmable: true))
    #expect(percent == 70)
    socket.plug(false)
    socket.plug(true)
    try light.setLevel(30)
    #expect(percent == 30)
  }

  @Test func whatCouldNotBeDoneIsNotDoneLater() throws {
    let light = socket.light()
    try light.setLevel(20)
    socket.plug(false)
    #expect(throws: Socket.gone) { try light.setLevel(100) }
    socket.plug(true)
    _ = light.refresh()
    #expect(percent == 20)
  }

  @Test func aRefusalIsToldAndTheLampKept() throws {
    let light = socket.light()
    try light.setLevel(20)
    socket.content.withLock { $0.refusesToSwitch = true }
    #expect(throws: DeviceError(device: "lamp", reason: .busy)) { try light.setLevel(100) }
    socket.content.withLock { $0.refusesToSwitch = false }
    try light.setLevel(100)
    #expect(socket.content.withLock { $0.opened } == [0])
  }

  @Test func aSwitchedLampIsNotDimmed() throws {
    socket.content.withLock { $0.isDimmable = false }
    let light = socket.light()
    #expect(light.refresh() == .ready(isDimmable: false))
    let error = #expect(throws: DeviceError.self) { try light.setLevel(50) }
    #expect(error?.reason == .notDimmable)
    #expect(error?.description.contains("Ask for on or off") == true)
    #expect(percent == 0)
    try light.setLevel(100)
    #expect(percent == 100)
  }

  @Test func aSimulatedLampNeedsNothing() throws {
    let light = try #require(Light(.simulated))
    #expect(light.refresh() == .ready(isDimmable: true))
    try light.setLevel(33)
  }
}

/// A directory that looks like one of the LED class.
struct LightLEDTests {
  private final class Lamp {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-led-\(UUID().uuidString)")

    init(maximum: String? = "255\n", brightness: String = "12\n", trigger: String? = nil) throws {
      try plug(maximum: maximum, brightness: brightness, trigger: trigger)
    }

    deinit { unplug() }

    func plug(maximum: String? = "255\n", brightness: String = "0\n", trigger: String? = nil) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in [("max_brightness", maximum), ("brightness", brightness), ("trigger", trigger)] {
        try text?.write(to: folder.appending(path: name), atomically: false, encoding: .utf8)
      }
    }

    func unplug() {
      try? FileManager.default.removeItem(at: folder)
    }

    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    var light: Light { Light(.led(path: folder.path))! }
  }

  @Test func levelsAreScaledToTheLamp() throws {
    let lamp = try Lamp()
    let light = lamp.light
    for (percent, brightness) in [(100, "255"), (0, "0"), (50, "128"), (1, "3"), (99, "252")] {
      try light.setLevel(percent)
      #expect(try lamp.text("brightness") == brightness)
    }
    let coarse = try Lamp(maximum: "7\n")
    let coarseLight = coarse.light
    try coarseLight.setLevel(1)
    #expect(try coarse.text("brightness") == "1")
  }

  @Test func brightnessAndTriggerAreAsBeforeInTheEnd() throws {
    let others = (0..<600).map { "cpu\($0)" }.joined(separator: " ")
    let lamp = try Lamp(trigger: "none \(others) [heartbeat] timer\n")
    let light = lamp.light
    try light.setLevel(100)
    #expect(try lamp.text("trigger") == "none")
    light.close()
    #expect(try lamp.text("brightness") == "12")
    #expect(try lamp.text("trigger") == "heartbeat")
  }

  @Test func aLampWithoutTriggerGetsNone() throws {
    let lamp = try Lamp(trigger: "[none] timer\n")
    let light = lamp.light
    try light.setLevel(100)
    light.close()
    #expect(try lamp.text("trigger") == "[none] timer\n")
  }

  @Test func aLampOfTwoLevelsIsNotDimmable() throws {
    let lamp = try Lamp(maximum: "1\n")
    let light = lamp.light
    #expect(light.refresh() == .ready(isDimmable: false))
    try light.setLevel(100)
    #expect(try lamp.text("brightness") == "1")
  }

  @Test func aLampThatIsPluggedInAgainShinesAsBefore() throws {
    let lamp = try Lamp()
    let light = lamp.light
    try light.setLevel(100)
    lamp.unplug()
    let error = #expect(throws: DeviceError.self) { try light.setLevel(50) }
    #expect(error?.reason == .notFound)
    guard case .missing = light.refresh() else {
      Issue.record("it is said to be there")
      return
    }
    try lamp.plug()
    #expect(light.refresh() == .ready(isDimmable: true))
    #expect(try lamp.text("brightness") == "255")
  }

  @Test func whatIsNoLampIsExplained() throws {
    let lamp = try Lamp(maximum: nil)
    let error = #expect(throws: DeviceError.self) { try lamp.light.setLevel(100) }
    #expect(error?.description.contains("max_brightness is missing. Name a directory such as") == true)
    let missing = #expect(throws: DeviceError.self) { try Light(.led(path: "/sys/class/leds/nothing"))?.setLevel(1) }
    #expect(missing?.description.contains("not found. Check the path in the configuration") == true)
  }

  @Test func theActiveTriggerIsTheOneInBrackets() {
    #expect(LEDLight.active(inTriggers: "none [heartbeat] timer") == "heartbeat")
    #expect(LEDLight.active(inTriggers: "none timer") == nil)
    #expect(LEDLight.active(inTriggers: "") == nil)
    #expect(LEDLight.active(inTriggers: "[") == nil)
  }
}
