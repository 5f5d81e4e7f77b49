import DeviceNames
import Glibc
import Testing

@testable import Devices

struct DescriptionTests {
  @Test func errorsSayWhatToDo() {
    let refused = DeviceError.system(EACCES, device: "/dev/video0", operation: "open", kind: .camera)
    #expect(refused.description == "/dev/video0: permission denied. Add the daemon's user to the group `video`.")
    let busy = DeviceError.system(EBUSY, device: "/dev/video0", operation: "open", kind: .camera)
    #expect(busy.description.contains("fuser -v /dev/video0"))
    let other = DeviceError.system(EIO, device: "/dev/video0", operation: "VIDIOC_DQBUF", kind: .camera)
    #expect(other.description == "/dev/video0: VIDIOC_DQBUF: Input/output error")
  }

  @Test func ratesNearTheRequestDoNotDiffer() {
    var info = VideoSourceInfo(
      device: "x", name: "x", width: 640, height: 480, framesPerSecond: 29.97, pixelFormat: "YUYV",
      request: VideoRequest(width: 640, height: 480, framesPerSecond: 30))
    #expect(!info.differsFromRequest)
    #expect(info.mode == "640x480 at 29.97 frames/s, YUYV")
    info.framesPerSecond = 25
    #expect(info.differsFromRequest)
    #expect(info.mode == "640x480 at 25 frames/s, YUYV")
  }

  @Test func onlyCamerasAndSoundCardsAreOfInterest() {
    for name in ["video0", "snd", "controlC1", "v4l"] { #expect(HotPlugWatch.isDevice(name)) }
    for name in ["tty7", "sda", "gpiochip0", ""] { #expect(!HotPlugWatch.isDevice(name)) }
  }

  @Test func ledsAndSensorsAreReadFromSysfs() throws {
    var template = Array("/tmp/cradle-sysfs-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var created: [String] = []
    defer {
      for path in created.reversed() { remove(path) }
      remove(root)
    }
    func write(_ path: String, _ text: String) {
      var folder = root
      for part in path.split(separator: "/").dropLast() {
        folder += "/\(part)"
        if mkdir(folder, 0o755) == 0 { created.append(folder) }
      }
      let file = fopen("\(root)/\(path)", "w")!
      fputs(text, file)
      fclose(file)
      created.append("\(root)/\(path)")
    }
    write("class/leds/green:status/max_brightness", "255\n")
    write("class/leds/green:status/brightness", "12\n")
    write("class/leds/broken/trigger", "none\n")
    write("class/hwmon/hwmon0/name", "lm75\n")
    write("class/hwmon/hwmon0/temp1_input", "23500\n")
    write("class/hwmon/hwmon0/temp1_label", "Room\n")
    write("bus/iio/devices/iio:device0/name", "bme280\n")
    write("bus/iio/devices/iio:device0/in_humidityrelative_input", "40\n")
    write("bus/iio/devices/iio:device0/in_temp_raw", "1\n")
    write("bus/iio/devices/iio:device0/in_temp_scale", "1\n")

    let leds = LEDDescription.all(in: "\(root)/class/leds")
    #expect(leds.map(\.name) == ["green:status"])
    #expect(leds.first?.brightness == 12 && leds.first?.maximumBrightness == 255)
    let sensors = SensorDescription.all(in: root)
    #expect(
      sensors.map { "\($0.system) \($0.chip) \($0.name)" } == [
        "hwmon lm75 Room", "iio bme280 in_humidityrelative", "iio bme280 in_temp",
      ])
  }

  @Test func theInventoryCanBeReadAnywhere() {
    let inventory = DeviceInventory.read()
    #expect(inventory.cameras.allSatisfy { $0.device.hasPrefix("/dev/video") })
  }
}
