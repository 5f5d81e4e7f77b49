import Foundation
import Testing

/// `cradle-parent watch` as a person uses it: a window on a desktop, and a terminal.
extension RealPeers {
  @Suite struct WindowTests {
    private typealias Place = (x: Int, y: Int, width: Int, height: Int)
    private static let title = "Nursery - Cradle"

    /// Waits until `body` returns something.
    private func wait<Value>(_ what: String, limit: TimeInterval = 60, for body: () throws -> Value?) throws -> Value {
      let deadline = Date().addingTimeInterval(limit)
      while Date() < deadline {
        if let value = try body() { return value }
        usleep(100_000)
      }
      throw ChildProcess.Problem(description: "never: \(what)")
    }

    /// The timecode in the picture, which fills the window. interfaces/devices.md, "Test picture and tone".
    private func timecode(_ pixels: [UInt8], in window: Place) -> UInt32? {
      guard window.x >= 0, window.y >= 0, window.x + window.width <= VirtualDesktop.size.width else { return nil }
      let side = 16.0 * Double(window.width) / 640
      func isLight(_ column: Double, _ row: Double) -> Bool {
        let x = window.x + Int((column * side).rounded(.down))
        let y = window.y + Int((row * side).rounded(.down))
        return pixels[(y * VirtualDesktop.size.width + x) * 3 + 1] > 128
      }
      var code: UInt32 = 0
      for block in 0..<32 {
        let column = Double(block) + 0.5
        guard isLight(column, 0.5) != isLight(column, 1.5) else { return nil }
        code = code << 1 | (isLight(column, 0.5) ? 1 : 0)
      }
      return code
    }

    private func isOn(_ house: Household) throws -> Bool {
      try house.parent("status", "--json").output.contains(#""id":"nightlight","state":"on""#)
    }

    @Test func theWindowShowsThePictureAndFollowsTheKeys() throws {
      let house = try Household()
      try house.pair()
      let desktop = try VirtualDesktop()
      let parent = try ParentProcess(
        paired: house.state, arguments: ["--window", "--microphone", "test"], environment: desktop.environment)
      func press(_ key: String) throws { try desktop.press(key, in: Self.title) }
      func window() throws -> Place? { try desktop.window(named: Self.title) }

      // The picture, and it moves.
      let place: Place = try wait("a window") { try window() }
      #expect(place.width * 9 == place.height * 16)
      let first = try wait("a timecode") { try timecode(desktop.pixels(), in: place) }
      let second = try wait("another timecode") {
        try timecode(desktop.pixels(), in: place).flatMap { $0 != first ? $0 : nil }
      }
      #expect((1...60_000).contains(second &- first))
      #expect(parent.wait { $0.shownMs != nil } != nil, Comment(rawValue: parent.log))

      try press("l")
      _ = try wait("the light") { try isOn(house) ? true : nil }
      // The first button is the light's. Steps are too wide for a double click, which fills the screen.
      let row = place.height - 31 * 2
      _ = try wait("the light to be off by its button") {
        for x in stride(from: 100, to: place.width / 2, by: 40) {
          try desktop.click(in: Self.title, at: (x, row))
          if try !isOn(house) { return true }
        }
        return nil
      }
      try press("s")
      let still = try wait("a picture in a file") {
        try FileManager.default.contentsOfDirectory(atPath: parent.folder.path).first { $0.hasSuffix(".jpg") }
      }
      #expect(try Data(contentsOf: parent.folder.appending(path: still)).starts(with: [0xff, 0xd8]))
      func holder() throws -> Bool { try house.parent("status", "--json").output.contains(#""holder":"#) }
      try desktop.press("space", in: Self.title, how: "keydown")
      _ = try wait("the floor") { try holder() ? true : nil }
      try desktop.press("space", in: Self.title, how: "keyup")
      _ = try wait("the floor to be free") { try holder() ? nil : true }

      try press("f")
      _ = try wait("the full screen") {
        try window().flatMap { ($0.width, $0.height) == VirtualDesktop.size ? true : nil }
      }
      try press("Escape")
      _ = try wait("the window as it was") {
        try window().flatMap { ($0.width, $0.height) == (place.width, place.height) ? true : nil }
      }
      try press("p")
      let small: Place = try wait("the small window") { try window().flatMap { $0.width < 400 ? $0 : nil } }
      #expect(small.x + small.width > 1200 && small.y + small.height > 700, "\(small)")
      try press("p")
      let back: Place = try wait("the window as it was") {
        try window().flatMap { ($0.width, $0.height) == (place.width, place.height) ? $0 : nil }
      }

      try press("h")
      _ = try wait("a sound check") {
        try house.parent("status", "--json").output.contains(#""hearing":{"#) ? true : nil
      }

      // The child is gone: it rings, and the picture says that it is old.
      house.child.kill()
      let ringing = parent.wait { $0.alarm?.kind == "link" && $0.rings }
      #expect(ringing?.alarm?.kind == "link", "\(parent.figures.suffix(2)) \(parent.log)")
      _ = try wait("the frame of an alarm") {
        let pixels = try desktop.pixels()
        let corner = (back.y * VirtualDesktop.size.width + back.x) * 3
        return pixels[corner] > 150 && pixels[corner + 1] < 100 ? true : nil
      }
      // As somebody who is woken does; the key is tried in the terminal.
      try desktop.click(in: Self.title)
      let seen = parent.figures.count
      _ = try wait("silence") { parent.figures.dropFirst(seen).contains { !$0.rings } ? true : nil }

      // Nobody else listens: only the second time it ends.
      for keys in [["Escape", "Escape"], ["q", "space"]] {
        for key in keys { try press(key) }
        #expect(try window() != nil)
      }
      try press("q")
      try press("q")
      #expect(parent.finish().status == 0, Comment(rawValue: parent.log))
      let files = try FileManager.default.contentsOfDirectory(atPath: house.state.path)
      #expect(files.contains { $0.hasPrefix("window-") && $0.hasSuffix(".json") }, "\(files)")
    }

    @Test func aPlannedStopDoesNotRing() throws {
      let house = try Household()
      try house.pair()
      let parent = try ParentProcess(paired: house.state)
      #expect(parent.wait { $0.framesDecoded > 5 } != nil, Comment(rawValue: parent.log))
      #expect(house.child.stop() == 0)
      let stopped = parent.wait { $0.alarm?.kind == "child-stopped" }
      #expect(stopped?.rings == false, "\(parent.figures.suffix(2)) \(parent.log)")
      #expect(parent.figures.allSatisfy { !$0.rings })
    }

    /// A level below the child's tone opens the speaker, one above it does not, and the link is watched all the same.
    @Test(arguments: [("-45", true), ("-10", false)])
    func aQuietRoomIsSilentAndWatched(level: String, isHeard: Bool) throws {
      let house = try Household()
      try house.pair()
      let parent = try ParentProcess(paired: house.state, arguments: ["--audio-only", "--vox=\(level)"])
      let open = parent.wait { ($0.audioLevelDb ?? -100) > -30 && $0.isVoxOpen == isHeard }
      #expect(open?.isVoxOpen == isHeard, "\(parent.figures.suffix(2)) \(parent.log)")
      house.child.kill()
      let ringing = parent.wait { $0.alarm?.kind == "link" && $0.rings }
      #expect(ringing?.rings == true, "\(parent.figures.suffix(2)) \(parent.log)")
    }

    @Test func withoutADesktopAWindowIsNoReasonToEnd() throws {
      let house = try Household()
      try house.pair()
      let parent = try ParentProcess(
        paired: house.state, arguments: ["--window", "--duration", "2"],
        environment: ["DISPLAY": ":nowhere", "WAYLAND_DISPLAY": ""])
      #expect(parent.finish().status == 0, Comment(rawValue: parent.log))
      #expect(parent.log.contains("no window"), Comment(rawValue: parent.log))
      #expect((parent.figures.last?.framesDecoded ?? 0) > 5)
    }

    @Test func theTerminalHasTheSameKeysAndIsGivenBack() throws {
      let house = try Household()
      try house.pair()
      let server = "cradle-\(UUID().uuidString)"
      func tmux(_ arguments: String...) throws -> String {
        try ChildProcess.run("tmux", ["-L", server, "-f", "/dev/null"] + arguments).output
      }
      // In the foreground: `Process` waits for whoever has its descriptors, as a daemon would.
      let terminal = Process()
      terminal.executableURL = URL(filePath: "/usr/bin/env")
      terminal.arguments = ["tmux", "-L", server, "-f", "/dev/null", "-D"]
      terminal.standardOutput = FileHandle.nullDevice
      terminal.standardError = FileHandle.nullDevice
      try terminal.run()
      defer {
        _ = try? tmux("kill-session")
        // Signals are blocked in what a test starts, and `kill-server` sends one.
        kill(terminal.processIdentifier, SIGKILL)
        terminal.waitUntilExit()
      }
      _ = try wait("a terminal") {
        let (_, _, status) = try ChildProcess.run(
          "tmux",
          [
            "-L", server, "-N", "new-session", "-d", "-x", "120", "-y", "24",
            "env -u DISPLAY -u WAYLAND_DISPLAY bash --norc",
          ])
        return status == 0 ? true : nil
      }
      func type(_ text: String) throws { _ = try tmux("send-keys", "-l", text) }
      func screen() throws -> String { try tmux("capture-pane", "-p") }
      func waitFor(_ text: String) throws {
        _ = try wait("\(text) on \((try? screen()) ?? "")") { try screen().contains(text) ? true : nil }
      }
      let watch =
        "\(ParentProcess.program.path) watch --speaker null --microphone test --state-directory \(house.state.path)"
      try type("\(watch); echo ended-$?; stty -a | grep -c ' icanon'\n")
      try waitFor("dB")
      try type("l")
      _ = try wait("the light") { try isOn(house) ? true : nil }
      try waitFor("nightlight is on")
      try type("?")
      try waitFor("talk; once more: stop talking")
      try type(" ")
      try waitFor("YOU ARE HEARD")
      try type(" ")
      // Stopped, the terminal shows what is typed; continued, the keys work again.
      _ = try tmux("send-keys", "C-z")
      try waitFor("Stopped")
      try type("stty -a | tr ';' '\\n' | grep -c ' icanon' | sed s/^/lines-/\n")
      try waitFor("lines-1")
      try type("fg\n")
      try type("l")
      _ = try wait("darkness") { try isOn(house) ? nil : true }
      house.child.kill()
      try waitFor("ALARM")
      try type("a")
      try waitFor("(seen)")
      try type("q")
      try waitFor("Nursery: ended")
      // What is typed before the program has ended is the program's.
      _ = try wait("lines on \((try? screen()) ?? "")") {
        try type("stty -a | tr ';' '\\n' | grep -c ' icanon' | sed s/^/again-/\n")
        usleep(500_000)
        return try screen().contains("again-1") ? true : nil
      }
    }
  }
}
