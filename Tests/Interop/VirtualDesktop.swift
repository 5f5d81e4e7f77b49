import Foundation

/// A desktop of its own: Xvfb with a window manager, keys that are pressed, pictures of the screen.
final class VirtualDesktop {
  static let size = (width: 1280, height: 800)
  let display: String
  private let settings: URL
  private var processes: [Process] = []

  init() throws {
    let server = Process()
    server.executableURL = URL(filePath: "/usr/bin/env")
    // It picks a number that is free, and writes it.
    server.arguments = [
      "Xvfb", "-displayfd", "1", "-screen", "0", "\(Self.size.width)x\(Self.size.height)x24", "-nolisten", "tcp",
    ]
    let output = Pipe()
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    try server.run()
    var number = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { number += byte }
    guard !number.isEmpty else { throw ChildProcess.Problem(description: "Xvfb did not start") }
    display = ":" + String(decoding: number, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    // Without frames: what xdotool tells of a window's place is that of its picture then.
    let settings = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).xml")
    try """
    <?xml version="1.0"?>
    <openbox_config xmlns="http://openbox.org/3.4/rc">
    <applications><application class="*"><decor>no</decor><focus>yes</focus></application></applications>
    </openbox_config>
    """.write(to: settings, atomically: true, encoding: .utf8)
    self.settings = settings
    let manager = Process()
    manager.executableURL = URL(filePath: "/usr/bin/env")
    manager.arguments = ["openbox", "--config-file", settings.path]
    manager.environment = ProcessInfo.processInfo.environment.merging(["DISPLAY": display]) { $1 }
    manager.standardError = FileHandle.nullDevice
    try manager.run()
    processes = [manager, server]
  }

  deinit {
    for process in processes {
      // They may have inherited that signals are blocked.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(at: settings)
  }

  /// For programs on this desktop; it has no graphics card.
  var environment: [String: String] {
    [
      "DISPLAY": display, "SDL_VIDEODRIVER": "x11", "SDL_RENDER_DRIVER": "software", "DBUS_SESSION_BUS_ADDRESS": "",
      "XDG_RUNTIME_DIR": "/nonexistent",
    ]
  }

  /// The window's place on the screen; nil while there is none.
  func window(named name: String) throws -> (x: Int, y: Int, width: Int, height: Int)? {
    guard let id = try self.id(named: name) else { return nil }
    let output = try xdotool("getwindowgeometry", "--shell", id)
    var values: [String: Int] = [:]
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: "=")
      if parts.count == 2 { values[String(parts[0])] = Int(parts[1]) }
    }
    guard let x = values["X"], let y = values["Y"], let width = values["WIDTH"], let height = values["HEIGHT"] else {
      return nil
    }
    return (x, y, width, height)
  }

  /// Presses a key in the window, as xdotool names it; `how`: `key`, `keydown` or `keyup`.
  func press(_ key: String, in name: String, how: String = "key") throws {
    guard let id = try self.id(named: name) else { throw ChildProcess.Problem(description: "no window \(name)") }
    _ = try xdotool("windowfocus", id, how, key)
  }

  /// Clicks at a point of the window; without one, in its middle.
  func click(in name: String, at point: (x: Int, y: Int)? = nil) throws {
    guard let place = try window(named: name) else { throw ChildProcess.Problem(description: "no window \(name)") }
    let (x, y) = point ?? (place.width / 2, place.height / 2)
    _ = try xdotool("mousemove", String(place.x + x), String(place.y + y), "click", "1")
  }

  private func id(named name: String) throws -> String? {
    try xdotool("search", "--onlyvisible", "--name", name).split(separator: "\n").last.map(String.init)
  }

  private func xdotool(_ arguments: String...) throws -> String {
    try ChildProcess.run("env", ["DISPLAY=\(display)", "xdotool"] + arguments).output
  }

  /// The screen's pixels, three bytes each: red, green, blue.
  func pixels() throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).rgb")
    defer { try? FileManager.default.removeItem(at: file) }
    let (_, error, status) = try ChildProcess.run(
      "ffmpeg",
      [
        "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
        "\(Self.size.width)x\(Self.size.height)", "-i", display, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt",
        "rgb24",
        file.path,
      ])
    guard status == 0 else { throw ChildProcess.Problem(description: error) }
    return try [UInt8](Data(contentsOf: file))
  }
}
