import ArgumentParser
import Devices
import JSON
import Wire

/// `cradle-child devices`
struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists cameras with their formats and controls, microphones, speakers, GPIO lines, LEDs and sensors.")

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let inventory = DeviceInventory.read()
    if json { return print(JSON.text(inventory)) }
    section("Cameras", inventory.cameras.map(Self.lines))
    if !inventory.raspberryPiCameras.isEmpty {
      section("Ribbon cable", inventory.raspberryPiCameras.map { ["\($0.device)  \($0.name)"] + $0.modes })
    }
    section("Microphones", inventory.microphones.map { ["\($0.device)  \($0.name)"] })
    section("Speakers", inventory.speakers.map { ["\($0.device)  \($0.name)"] })
    section("GPIO chips", inventory.gpioChips.map(Self.lines))
    section("LEDs", inventory.leds.map { ["led:\($0.path)  \($0.brightness) of \($0.maximumBrightness)"] })
    section("Sensors", inventory.sensors.map { ["\($0.chip) \($0.name)  \($0.path)"] })
  }

  private func section(_ title: String, _ entries: [[String]]) {
    print(title + (entries.isEmpty ? ": none" : ""))
    for entry in entries {
      for (index, line) in entry.enumerated() { print((index == 0 ? "  " : "    ") + line) }
    }
  }

  private static func lines(_ camera: CameraDescription) -> [String] {
    var lines = ["\(camera.stableDevice ?? camera.device)  \(camera.name)"]
    if camera.stableDevice != nil { lines[0] += " (\(camera.device))" }
    if let problem = camera.problem { lines.append(problem) }
    if camera.sharesSerialNumber == true {
      lines.append("another camera has its serial number: configure it by its socket, /dev/v4l/by-path/…")
    }
    for mode in camera.modes {
      let rates = mode.framesPerSecond.map { $0.hundredths.shortText }.joined(separator: " ")
      lines.append("\(mode.format) \(mode.width)x\(mode.height)" + (rates.isEmpty ? "" : " at \(rates) frames/s"))
    }
    for control in camera.controls {
      let now = control.value.map { ", now \($0)" } ?? ""
      let state = control.isReadOnly ? ", read only" : control.isInactive ? ", inactive" : ""
      let range = control.kind == .button ? "button" : "\(control.range), default \(control.standard)"
      lines.append("control \(control.name): \(range)\(now)\(state)")
    }
    if !camera.otherFormats.isEmpty { lines.append("not used: " + camera.otherFormats.joined(separator: " ")) }
    return lines
  }

  private static func lines(_ chip: GPIOChipDescription) -> [String] {
    var lines = ["\(chip.device)  \(chip.label), \(chip.lines.count) lines"]
    if let problem = chip.problem { lines.append(problem) }
    for line in chip.lines where !line.name.isEmpty || line.isUsed {
      lines.append(
        "gpio:\(chip.device)/\(line.offset)  \(line.name)" + (line.isUsed ? " (used by \(line.consumer))" : ""))
    }
    return lines
  }
}
