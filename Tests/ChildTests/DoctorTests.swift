import DeviceNames
import Foundation
import Health
import Linux
import Storage
import TestSupport
import Testing
import Wire

@testable import Child
@testable import Devices
@testable import Discovery

/// Each thing that `cradle-child doctor` looks at, on machines that are faked.
@Suite struct DoctorTests {
  private static func configuration(_ yaml: String) throws -> ChildConfiguration {
    try ChildConfiguration.parse(Array(yaml.utf8), file: "child.yaml")
  }

  private static let stopped = RunningDaemon.stopped(socket: "/run/cradle/control.sock")

  private static func running(
    port: Int = 8443, camera: String = "running", detail: String = "Webcam", version: String = ChildNode.version
  ) -> RunningDaemon {
    .running(
      StatusReport(
        name: "Nursery", id: "0123456789abcdef", version: version, uptimeSeconds: 60, port: port, mediaPort: 40_000,
        cameras: [
          .init(
            id: "cot", device: "auto", state: camera, detail: detail, width: 1280, height: 720, framesPerSecond: 30,
            captured: 1, encoded: 0, keyFrames: 0, targetKbps: 1500, encoderSpeed: -8)
        ],
        microphone: .init(device: "auto", state: camera, detail: detail, captured: 1, encoded: 1, levelDb: -40),
        viewers: [], datagrams: .init(lost: 0, ignored: 0), alarms: []), process: 4242)
  }

  // MARK: Daemon

  @Test func howItIsWithTheDaemon() {
    let state = { (daemon: RunningDaemon) in daemon.finding(version: ChildNode.version).state }
    #expect(state(Self.running()) == .ok)
    #expect(state(Self.running(version: "0.0.1")) == .warning)
    #expect(state(Self.stopped) == .warning)
    #expect(state(.hidden(socket: "x")) == .unknown)
    #expect(state(.silent(socket: "x")) == .problem)
  }

  @Test func nobodyAtTheSocketIsNoDaemon() throws {
    let root = try FakeRoot()
    let path = root.folder.path
    guard case .stopped = RunningDaemon.ask(runtimeDirectory: path) else {
      return #expect(Bool(false), "nothing listens there")
    }
  }

  /// What a schedule names and the baby unit does not have would fail each evening.
  @Test func aScheduleIsAboutWhatIsThere() throws {
    let good = """
      lullabies: /nonexistent
      cameras: [{id: cot, device: test}]
      lights: [{id: lamp, device: simulated}]
      schedule:
        - {at: "07:30", camera: off}
        - {at: "19:00", light: on}
        - {at: "19:00", lullaby: white-noise}
        - {at: "20:00", lullaby: off}
      """
    let found = { (yaml: String) in
      ScheduleCheck.run(try Self.configuration(yaml)).map { "\($0.state): \($0.detail)" }
    }
    #expect(try found(good) == [])
    #expect(
      try found(good.replacing("white-noise", with: "rain").replacing("simulated", with: "none"))
        == ["problem: at 19:00 there is no light; at 19:00 no lullaby is called rain"])
    #expect(
      try found(good.replacing("[{id: cot, device: test}]", with: "[]") + "\nspeaker: {device: none}")
        == ["problem: at 07:30 there is no camera; at 19:00 there is no speaker"])
  }

  // MARK: Devices

  @Test func theDaemonIsAskedForWhatItHasOpen() {
    let cameras = { (daemon: RunningDaemon) in CameraCheck.run(.defaults, daemon: daemon, user: "cradle") }
    #expect(cameras(Self.running())[0].detail == "Webcam, 1280x720 at 30 frames/s, in use by the daemon")
    #expect(cameras(Self.running())[0].state == .ok)
    let missing = cameras(Self.running(camera: "missing", detail: "camera: not found"))
    #expect(missing[0].state == .problem)
    #expect(missing[0].detail == "camera: not found")
    #expect(cameras(Self.running(camera: "opening"))[0].state == .warning)
    let microphone = { (daemon: RunningDaemon) in SoundCheck.microphone(.auto, daemon: daemon, user: "cradle").state }
    #expect(microphone(Self.running()) == .ok)
    #expect(microphone(Self.running(camera: "missing")) == .problem)
  }

  @Test func whatIsOddAboutAMicrophoneIsAWarningInWholeSentences() {
    let microphone = StatusReport.Microphone(
      device: "auto", state: "running", detail: "Webcam", captured: 1, encoded: 1, levelDb: -40, sampleRate: 48_000,
      measuredRate: 16_000, remarks: ["It is slow.", "It is wired the wrong way."])
    let finding = SoundCheck.finding(microphone)
    #expect(finding.state == .warning)
    #expect(finding.detail.hasSuffix("in use by the daemon. It is slow. It is wired the wrong way."))
  }

  @Test func withoutADaemonDevicesAreOpened() throws {
    let test = try Self.configuration(
      "{cameras: [{device: test}, {id: gone, device: /dev/no-such-camera}], microphone: {device: test}}")
    let cameras = CameraCheck.run(test, daemon: Self.stopped, user: "cradle")
    #expect(cameras.map(\.state) == [.ok, .problem])
    #expect(cameras[1].detail == "/dev/no-such-camera: not found")
    #expect(SoundCheck.microphone(.test, daemon: Self.stopped, user: "cradle").state == .ok)
    #expect(SoundCheck.microphone(.off, daemon: Self.stopped, user: "cradle").state == .ok)
    let none = try Self.configuration("cameras: []")
    #expect(CameraCheck.run(none, daemon: Self.stopped, user: "cradle").map(\.state) == [.ok])
  }

  @Test func troubleNamesTheCommand() {
    let remedy = { (what: String, device: String, reason: DeviceError.Reason) in
      DeviceTrouble.finding(
        what, .problem, DeviceError(device: device, reason: reason), daemon: Self.stopped, user: "cradle"
      ).remedy
    }
    #expect(remedy("camera cot", "/dev/video0", .permissionDenied) == "sudo usermod -aG video cradle")
    #expect(remedy("speaker", "plughw:1", .permissionDenied) == "sudo usermod -aG audio cradle")
    #expect(remedy("camera cot", "/dev/video0", .busy) == "sudo fuser -v /dev/video0")
    #expect(remedy("microphone", "plughw:1", .busy) == "sudo fuser -v /dev/snd/*")
    let any = DeviceTrouble.finding(
      "camera cot", .problem, DeviceError(device: "camera", reason: .notFound), daemon: Self.stopped, user: "cradle")
    #expect(any.detail == "not found")
    // Whether it is the daemon that has it, only root may ask.
    let busy = DeviceTrouble.finding(
      "camera cot", .problem, DeviceError(device: "/dev/video0", reason: .busy), daemon: .hidden(socket: "x"),
      user: "pi")
    #expect(busy.state == .unknown)
  }

  @Test func aFileThatStandsInForASpeakerIsNotEmptied() throws {
    let root = try FakeRoot(["/out.wav": "precious"])
    let path = root.folder.appending(path: "out.wav").path
    #expect(SoundCheck.speaker(.file(path: path), daemon: Self.stopped, user: "x", files: root.files).state == .ok)
    #expect(root.files.text("/out.wav") == "precious")
  }

  /// The daemon knows what became of it.
  @Test(arguments: [
    ("auto", "missing", Finding.State.warning), ("hw:9", "missing", .problem), ("file:/x", "missing", .problem),
    ("hw:9", "opening", .warning), ("hw:9", "running", .ok), ("file:/x", "running", .ok), ("null", "running", .ok),
    ("none", "off", .ok),
  ])
  func theSpeakerIsAsTheDaemonHasIt(name: String, state: String, expected: Finding.State) throws {
    let device = try #require(SpeakerDevice(name))
    let known = Self.running()
    var report = try #require(known.report)
    report.speaker = .init(device: "\(device)", state: state, detail: "its detail")
    let finding = SoundCheck.speaker(
      device, daemon: .running(report, process: known.process), user: "cradle", files: try FakeRoot().files)
    #expect(finding.state == expected, "\(finding)")
    #expect(finding.detail.contains("its detail") == (state == "missing" || name == "hw:9" && state == "running"))
  }

  @Test func aSpeakersFileIsOneThatCanBeWritten() throws {
    let root = try FakeRoot()
    let path = root.folder.path
    mkfifo("\(path)/fifo", 0o600)
    let state = { (file: String) in
      SoundCheck.speaker(.file(path: file), daemon: Self.stopped, user: "x", files: root.files).state
    }
    #expect(state("\(path)/new.wav") == .ok && state("\(path)/none/new.wav") == .problem)
    #expect(state("\(path)/fifo") == .problem && state(path) == .problem)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/new.wav"))
  }

  @Test func theDaemonIsKnownByItsThreadThatPlays() throws {
    let root = try FakeRoot([
      "/proc/asound/cards": "", "/proc/asound/card1/pcm0p/sub0/status": "state: RUNNING\nowner_pid   : 4250\n",
      "/proc/4242/task/4250/comm": "speaker\n",
    ])
    #expect(SoundCheck.isPlaying(4242, root.files))
    #expect(!SoundCheck.isPlaying(4243, root.files))
  }

  // MARK: Lights

  private static func chip(used: Bool = false, by consumer: String = "") -> GPIOChipDescription {
    GPIOChipDescription(
      device: "/dev/gpiochip0", label: "pinctrl",
      lines: [
        .init(
          offset: 17, name: "GPIO17", consumer: consumer, isUsed: used, isOutput: used)
      ])
  }

  @Test func aLineIsTheDaemonsOrFree() {
    let state = { (line: GPIOLine, chip: GPIOChipDescription, isOurs: Bool) in
      LightCheck.finding("light lamp", line, of: chip, isOurs: isOurs).state
    }
    #expect(state(.offset(17), Self.chip(), false) == .ok)
    #expect(state(.name("GPIO17"), Self.chip(used: true, by: "cradle"), true) == .ok)
    #expect(state(.name("GPIO18"), Self.chip(), false) == .problem)
    #expect(state(.offset(17), Self.chip(used: true, by: "fan"), false) == .problem)
    #expect(state(.offset(17), Self.chip(used: true, by: "fan"), true) == .problem)
    #expect(state(.offset(17), Self.chip(), true) == .problem)
    let refused = GPIOChipDescription(device: "/dev/gpiochip0", label: "", lines: [], problem: "permission denied")
    #expect(state(.offset(17), refused, false) == .problem)
  }

  @Test func lampsAreLookedAtAndNotSwitched() throws {
    let root = try FakeRoot(["/sys/class/leds/ACT/max_brightness": "255\n", "/sys/class/leds/ACT/brightness": "12\n"])
    let lights = try Self.configuration(
      "lights: [{id: lamp, device: \"led:/sys/class/leds/ACT\"}, {id: other, device: \"led:/sys/class/leds/NO\"}]")
    let findings = LightCheck.run(lights.lights, daemon: Self.stopped, files: root.files)
    #expect(findings.map(\.state) == [.ok, .problem])
    #expect(findings[0].detail == "/sys/class/leds/ACT, 12 of 255")
    #expect(root.files.text("/sys/class/leds/ACT/brightness") == "12\n")
    let infrared = try Self.configuration("cameras: [{id: cot, infrared: \"led:/sys/class/leds/ACT\"}, {id: b}]")
    let lamps = LightCheck.run([], cameras: infrared.cameras, daemon: Self.stopped, files: root.files)
    #expect(lamps.map(\.what) == ["infrared cot"] && lamps[0].state == .ok)
    #expect(
      LightCheck.run(ChildConfiguration.defaults.lights, daemon: Self.stopped, files: root.files).map(\.state) == [.ok])
  }

  // MARK: Permissions

  @Test func aUserThatIsNotInTheGroupIsTold() throws {
    let root = try FakeRoot([
      "/etc/passwd": "cradle:x:4990:4989::/:/bin/false\n", "/dev/video0": "", "/dev/snd/controlC0": "",
    ])
    for path in ["/dev/video0", "/dev/snd/controlC0"] { try root.setMode(path, 0o660) }
    let group = getgid()
    try root.write("/etc/group", "video:x:\(group):\n")
    let run = { (groups: [UInt32]) in
      PermissionCheck.run(.defaults, account: Account(id: 4990, groups: groups), files: root.files)
    }
    #expect(run([group]).state == .ok)
    #expect(run([group]).detail == "cradle may open /dev/video0, /dev/snd/controlC0")
    let refused = run([4989])
    #expect(refused.state == .problem)
    #expect(refused.detail.hasPrefix("cradle may not open /dev/video0, /dev/snd/controlC0"))
    #expect(refused.remedy == "sudo usermod -aG video cradle && sudo systemctl restart cradle-child")
    let test = try Self.configuration(
      "{cameras: [{device: test}], microphone: {device: none}, speaker: {device: none}}")
    #expect(PermissionCheck.run(test, account: Account(id: 4990, groups: []), files: root.files).state == .ok)
  }

  // MARK: Ports

  private static let tables = [
    "/proc/net/tcp": """
    sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
     0: 0100007F:0277 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0
     1: 0100007F:20FB 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0

    """,
    "/proc/net/tcp6": """
    sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode
     0: 00000000000000000000000000000000:20FC 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 3 1 0

    """,
    "/proc/net/udp": """
    sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
     0: 00000000:C350 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 4 2 0 0

    """, "/etc/passwd": "pi:x:1000:1000::/:/bin/sh\n",
  ]

  @Test func anAddressThatNobodyCanUseIsAProblem() throws {
    let house = [[try #require(IPAddress("192.168.5.2")), try #require(IPAddress("fd00::2"))]]
    let good = NetworkCheck.run(listen: "::", house: house, isOnlyLinkLocal: false)
    #expect(good.state == .ok && good.detail.hasSuffix("192.168.5.2, fd00::2"))
    let alone = NetworkCheck.run(listen: "", house: [], isOnlyLinkLocal: true)
    #expect(alone.state == .problem && alone.detail.contains("fe80::") && alone.remedy?.contains("IPv4") == true)
    #expect(NetworkCheck.run(listen: "0.0.0.0", house: [], isOnlyLinkLocal: false).state == .problem)
    // Whoever names an address knows why.
    #expect(NetworkCheck.run(listen: "127.0.0.1", house: [], isOnlyLinkLocal: true).state == .ok)
  }

  /// Apple's push service refuses alarms that name nobody; the subscription of an earlier version has no contact.
  @Test func aSubscriptionWithoutAContactIsSaid() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func finding(_ contacts: [String?], push: String = "{}") throws -> Finding? {
      let rows = contacts.map { contact in
        #"{"pair":"1","endpoint":"https://a.example/x","p256dh":"","auth":""\#(contact.map { #","contact":"\#($0)""# } ?? "")}"#
      }
      try Data(#"{"version":1,"subscriptions":[\#(rows.joined(separator: ","))]}"#.utf8)
        .write(to: folder.appending(path: "push.json"))
      return PushContactCheck.run(try Self.configuration("push: \(push)").push, stateDirectory: folder.path)
    }
    #expect(try finding([]) == nil)
    #expect(try finding(["mailto:a@b.example.org"]) == nil)
    #expect(try finding([nil], push: "{contact: 'mailto:a@b.example.org'}") == nil)
    let one = try #require(try finding([nil, "mailto:a@b.example.org"]))
    #expect(
      one.state == .warning && one.detail.contains("one browser has") && one.remedy?.contains("push.contact") == true)
    let two = try #require(try finding([nil, "mailto:a@b.invalid"], push: "{contact: 'mailto:push@cradle.invalid'}"))
    #expect(two.detail.contains("2 browsers") && two.detail.contains("cannot exist"))
    #expect(PushContactCheck.run(.init(), stateDirectory: folder.path + "/none") == nil)
  }

  @Test func aPortThatAnotherProgramHasIsAProblem() throws {
    let root = try FakeRoot(Self.tables)
    let states = { (yaml: String, daemon: RunningDaemon) in
      PortCheck.run(try Self.configuration(yaml), daemon: daemon, files: root.files).map(\.state)
    }
    // A connection that is open from this port is no listener.
    #expect(try states("listen: \"[::]:8443\"", Self.stopped) == [.ok, .ok])
    #expect(try states("listen: \"[::]:8444\"", Self.stopped) == [.problem, .ok])
    #expect(try states("listen: \"[::]:8444\"", Self.running(port: 8444)) == [.ok, .ok])
    #expect(try states("listen: \"[::]:8444\"", Self.running(port: 8443)) == [.warning, .ok])
    #expect(try states("media-ports: [50000, 50000]", Self.stopped) == [.ok, .problem])
    #expect(try states("media-ports: [50000, 50001]", Self.stopped) == [.ok, .ok])
    #expect(try states("rtsp: {enabled: true}", Self.stopped) == [.ok, .ok, .ok])
    #expect(try states("rtsp: {enabled: true, listen: \"[::]:8444\"}", Self.stopped) == [.ok, .ok, .problem])
    #expect(try states("rtsp: {enabled: true}", Self.running(port: 8443)) == [.ok, .ok, .warning])
    let taken = PortCheck.run(try Self.configuration("listen: \"[::]:8444\""), daemon: Self.stopped, files: root.files)[
      0]
    #expect(taken.detail == "a program of pi listens there already")
    #expect(taken.remedy?.contains("ss -ltnp 'sport = :8444'") == true)
  }

  // MARK: Avahi

  private struct Network: Discovery {
    var seen: [Neighbourhood]

    func browse() -> AsyncStream<Neighbourhood> {
      AsyncStream { continuation in
        for neighbourhood in seen { continuation.yield(neighbourhood) }
        // As the network does: nothing more comes.
      }
    }

    func advertise(
      _: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
    ) -> any Advertising {
      preconditionFailure("the doctor changes nothing")
    }
  }

  private static let nursery = DiscoveredChild(
    name: "Nursery", id: "0123456789abcdef", host: "nursery.local", addresses: [], port: 8443, pairing: .closed,
    version: "0.1.0")

  @Test func avahiTellsTheChildOrNot() async {
    let check = { (id: String?, seen: [Neighbourhood]) in
      await AvahiCheck.run(id: id, discovery: Network(seen: seen), patience: .milliseconds(100))
    }
    let found = await check(Self.nursery.id, [Neighbourhood(), Neighbourhood(children: [Self.nursery])])
    #expect(found.state == .ok)
    #expect(found.detail == "viewers find “Nursery” at nursery.local, port 8443")
    #expect(await check(nil, [Neighbourhood()]).state == .ok)
    let none = await check(Self.nursery.id, [Neighbourhood(problem: .noAvahi)])
    #expect(none.state == .warning)
    #expect(none.remedy?.contains("apt install avahi-daemon") == true)
    #expect(await check("ffffffffffffffff", [Neighbourhood(children: [Self.nursery])]).state == .problem)
    #expect(await check(nil, []).state == .problem)
  }

  // MARK: Encoder

  @Test func theEncoderNeedsTimeToSpare() {
    let camera = ChildConfiguration.defaults.cameras[0]
    let state = { (rate: Double?) in
      EncoderCheck.finding(camera, rate.map { .init(framesPerSecond: $0, setting: -8) }, viewers: 0).state
    }
    #expect(state(150) == .ok)
    #expect(state(40) == .warning)
    #expect(state(22) == .problem)
    #expect(state(nil) == .problem)
    let slow = EncoderCheck.finding(camera, .init(framesPerSecond: 22.7, setting: -10), viewers: 1)
    #expect(slow.detail.hasPrefix("too slow: 1280x720 at 22 frames/s (speed -10); 30 are configured"))
    #expect(slow.remedy == "In the configuration, for camera cot: width: 640, height: 360")
    var small = camera
    (small.request.width, small.request.height) = (640, 360)
    let remedy = { (camera: ChildConfiguration.Camera, rate: Double) in
      EncoderCheck.finding(camera, .init(framesPerSecond: rate, setting: -10), viewers: 0).remedy
    }
    #expect(remedy(small, 26) == "In the configuration, for camera cot: framerate: 15")
    #expect(remedy(camera, 5) == "In the configuration, for camera cot: width: 640, height: 360, framerate: 12")
    #expect(remedy(camera, 25) == "In the configuration, for camera cot: width: 640, height: 360")
    #expect(remedy(camera, 28.2) == "In the configuration, for camera cot: width: 960, height: 540")
    #expect(remedy(small, 1) == "In the configuration, for camera cot: width: 320, height: 180, framerate: 5")
    var narrow = camera
    (narrow.request.width, narrow.request.height, narrow.request.framesPerSecond) = (1024, 768, 25)
    #expect(remedy(narrow, 16) == "In the configuration, for camera cot: width: 640, height: 480, framerate: 24")
    (small.request.width, small.request.height, small.request.framesPerSecond) = (320, 180, 5)
    #expect(remedy(small, 1) == "This machine is too slow for any picture.")
  }

  @Test func eachConfiguredPictureIsReallyEncodedOnce() throws {
    let cameras = try Self.configuration(
      "cameras: [{width: 160, height: 90}, {id: b, width: 160, height: 90}, {id: c, width: 64, height: 48}]")
    let findings = EncoderCheck.run(cameras, daemon: Self.stopped)
    #expect(findings.count == 2)
    #expect(findings[0].detail.contains("160x90 at ") && !findings[0].detail.contains("at 0 frames"))
  }
}
