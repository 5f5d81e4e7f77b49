import CLinux
import DeviceNames
import Glibc
import Testing

@testable import Devices

/// A camera with controls, as a driver answers for them.
private final class FakeCamera: ControlCalls {
  struct Control {
    var id: UInt32
    var name: String
    var type = V4L2_CTRL_TYPE_INTEGER
    var range: ClosedRange<Int64> = 0...255
    var step: UInt64 = 1
    var flags: UInt32 = 0
    var value: Int64 = 0
    var entries: [UInt32: String] = [:]
    /// The control that has to have this value for the other one to be active.
    var governor: (id: UInt32, value: Int64)?
    var failure: Int32 = 0
  }

  var controls: [Control]
  /// In the order of the calls.
  var sets: [(id: UInt32, value: Int64)] = []
  var calls = 0

  init(_ controls: [Control]) { self.controls = controls }

  private func isInactive(_ control: Control) -> Bool {
    guard let governor = control.governor else { return false }
    return controls.first { $0.id == governor.id }?.value != governor.value
  }

  func next(after id: UInt32) -> v4l2_query_ext_ctrl? {
    calls += 1
    guard let control = controls.filter({ $0.id > id }).min(by: { $0.id < $1.id }) else { return nil }
    var query = v4l2_query_ext_ctrl()
    query.id = control.id
    query.type = control.type.rawValue
    withUnsafeMutableBytes(of: &query.name) { $0.copyBytes(from: control.name.utf8.prefix(31)) }
    (query.minimum, query.maximum, query.step) = (control.range.lowerBound, control.range.upperBound, control.step)
    query.flags = control.flags | (isInactive(control) ? CLINUX_CTRL_FLAG_INACTIVE : 0)
    return query
  }

  func entry(_ index: UInt32, of id: UInt32, isNumber: Bool) -> String? {
    controls.first { $0.id == id }?.entries[index]
  }

  func value(of id: UInt32, isLong: Bool) -> Int64? { controls.first { $0.id == id }?.value }

  func set(_ id: UInt32, isLong: Bool, to value: Int64) -> Int32 {
    guard let index = controls.firstIndex(where: { $0.id == id }) else { return EINVAL }
    guard controls[index].failure == 0 else { return controls[index].failure }
    sets.append((id, value))
    let step = Int64(controls[index].step)
    controls[index].value = value / step * step
    return 0
  }
}

extension FakeCamera {
  /// As uvcvideo shows a webcam on a kernel of today.
  static func webcam() -> FakeCamera {
    FakeCamera([
      Control(id: 0x0098_0001, name: "User Controls", type: V4L2_CTRL_TYPE_CTRL_CLASS),
      Control(id: 0x0098_0900, name: "Brightness", range: -64...64),
      Control(id: 0x0098_0913, name: "Gain", range: 0...100, value: 10),
      Control(
        id: 0x0098_0918, name: "Power Line Frequency", type: V4L2_CTRL_TYPE_MENU, range: 0...2, value: 2,
        entries: [0: "Disabled", 1: "50 Hz", 2: "60 Hz"]),
      Control(id: 0x0098_0927, name: "Temperature", flags: CLINUX_CTRL_FLAG_READ_ONLY, value: 40),
      Control(id: 0x0098_0950, name: "Comment", type: V4L2_CTRL_TYPE_STRING),
      Control(id: 0x0098_0951, name: "Gone", flags: CLINUX_CTRL_FLAG_DISABLED),
      Control(
        id: CLINUX_CID_EXPOSURE_AUTO, name: "Auto Exposure", type: V4L2_CTRL_TYPE_MENU, range: 0...3, value: 3,
        entries: [1: "Manual Mode", 3: "Aperture Priority Mode"]),
      Control(
        id: CLINUX_CID_EXPOSURE_ABSOLUTE, name: "Exposure Time, Absolute", range: 1...5000, step: 10, value: 150,
        governor: (CLINUX_CID_EXPOSURE_AUTO, 1)),
      Control(
        id: CLINUX_CID_EXPOSURE_AUTO_PRIORITY, name: "Exposure, Dynamic Framerate", type: V4L2_CTRL_TYPE_BOOLEAN,
        range: 0...1),
      Control(id: 0x009a_0920, name: "Focus, Start", type: V4L2_CTRL_TYPE_BUTTON, range: 0...0),
    ])
  }

  func apply(_ settings: KeyValuePairs<String, Int64>) -> [String] {
    CameraControls(self).apply(settings.map { CameraControl(name: $0, value: $1) })
  }
}

@Suite struct CameraControlsTests {
  @Test func whatCanBeSetIsListedByTheNamesOfV4L2Ctl() {
    let all = CameraControls(FakeCamera.webcam()).all.map(\.description)
    #expect(
      all.map(\.name) == [
        "brightness", "gain", "power_line_frequency", "temperature", "auto_exposure", "exposure_time_absolute",
        "exposure_dynamic_framerate", "focus_start",
      ])
    #expect(all[0].range == "-64 to 64" && all[1].value == 10)
    #expect(all[2].kind == .menu && all[2].range == "0 (Disabled), 1 (50 Hz), 2 (60 Hz)")
    #expect(all[4].entries.map(\.index) == [1, 3])
    #expect(all[3].isReadOnly && all[5].isInactive && all[5].range == "1 to 5000 in steps of 10")
    #expect(all[7].kind == .button && all[7].value == nil)
  }

  @Test func aListWithoutEndEnds() {
    final class Broken: ControlCalls {
      func next(after id: UInt32) -> v4l2_query_ext_ctrl? {
        var query = v4l2_query_ext_ctrl()
        query.id = 0x0098_0900
        query.type = V4L2_CTRL_TYPE_MENU.rawValue
        (query.minimum, query.maximum) = (.min, .max)
        return query
      }
      func entry(_ index: UInt32, of id: UInt32, isNumber: Bool) -> String? { "x" }
      func value(of id: UInt32, isLong: Bool) -> Int64? { nil }
      func set(_ id: UInt32, isLong: Bool, to value: Int64) -> Int32 { EIO }
    }
    #expect(CameraControls(Broken()).all.count == 1)
  }

  @Test func settingsAreMadeInTheirOrder() {
    let camera = FakeCamera.webcam()
    #expect(camera.apply(["auto_exposure": 1, "exposure_time_absolute": 3000, "gain": 40, "brightness": -5]).isEmpty)
    #expect(camera.sets.map(\.value) == [1, 3000, 40, -5])
  }

  @Test func oldAndNewNamesOfTheKernelMeanTheSame() {
    let camera = FakeCamera.webcam()
    #expect(camera.apply(["exposure_auto": 1, "exposure_absolute": 500, "exposure_auto_priority": 1]).isEmpty)
    #expect(
      camera.sets.map(\.id) == [
        CLINUX_CID_EXPOSURE_AUTO, CLINUX_CID_EXPOSURE_ABSOLUTE, CLINUX_CID_EXPOSURE_AUTO_PRIORITY,
      ])
  }

  /// One slip does not keep the others from being set.
  @Test func anUnknownNameIsSaidWithTheNearestOne() {
    let camera = FakeCamera.webcam()
    let problems = camera.apply(["gian": 40, "gain": 41])
    #expect(problems == ["control gian: the camera has none of that name; the nearest is gain, 0 to 100"])
    #expect(camera.sets.map(\.value) == [41])
    #expect(FakeCamera([]).apply(["gain": 1]) == ["control gain: the camera has no controls"])
  }

  @Test(arguments: [
    ("gain", 101, "101 is beyond its range, 0 to 100"), ("gain", -1, "-1 is beyond its range, 0 to 100"),
    ("auto_exposure", 2, "there is no entry 2; there are 1 (Manual Mode), 3 (Aperture Priority Mode)"),
    ("exposure_dynamic_framerate", 2, "2 is beyond its range, 0 to 1"), ("temperature", 1, "it can only be read"),
    ("focus_start", 1, "it is a button, which has no value"),
  ])
  func whatCannotBeIsRefusedAndNotTried(name: String, value: Int64, problem: String) {
    let camera = FakeCamera.webcam()
    #expect(CameraControls(camera).apply([CameraControl(name: name, value: value)]) == ["control \(name): \(problem)"])
    #expect(camera.sets.isEmpty)
  }

  @Test func whatAnAutomaticModeGovernsIsSaid() {
    let camera = FakeCamera.webcam()
    let problems = camera.apply(["exposure_time_absolute": 200])
    #expect(problems.count == 1 && problems[0].contains("no effect") && problems[0].contains("set that one before"))
  }

  @Test func aValueThatTheCameraRoundsIsSaid() {
    let camera = FakeCamera.webcam()
    let problems = camera.apply(["auto_exposure": 1, "exposure_time_absolute": 205])
    #expect(problems == ["control exposure_time_absolute: the camera took 200 instead of 205"])
  }

  @Test func aRefusalOfTheDriverIsSaid() {
    let camera = FakeCamera.webcam()
    camera.controls[2].failure = EIO
    #expect(camera.apply(["gain": 20]) == ["control gain: VIDIOC_S_EXT_CTRLS: Input/output error"])
  }

  @Test func aBitMaskTakesItsBits() {
    let camera = FakeCamera([
      .init(id: 0x0098_0960, name: "Mask", type: V4L2_CTRL_TYPE_BITMASK, range: 0...0b1011)
    ])
    #expect(camera.apply(["mask": 0b1010]).isEmpty)
    #expect(camera.apply(["mask": 0b0100]) == ["control mask: 4 has bits beyond 11"])
  }

  @Test func sourcesWithoutControlsSaySo() {
    var request = VideoRequest(width: 160, height: 96, framesPerSecond: 30)
    func problems() throws -> [String] { try VideoSources.open(.test, request: request).info.controlProblems }
    #expect(throws: Never.self) { try #expect(problems().isEmpty) }
    request.controls = [CameraControl(name: "gain", value: 1)]
    #expect(throws: Never.self) { try #expect(problems().count == 1) }
  }

  // MARK: Slow shutter

  @Test func theShutterFollowsTheNightAndGoesBackToWhatTheCameraHad() throws {
    for byDay in [0, 1] as [Int64] {
      let camera = FakeCamera.webcam()
      camera.controls[9].value = byDay
      var shutter = try #require(SlowShutter(CameraControls(camera), settings: []))
      shutter.follow(isWanted: false)
      #expect(camera.sets.isEmpty)
      for _ in 0..<3 { shutter.follow(isWanted: true) }
      #expect(camera.sets.map(\.value) == [1])
      for _ in 0..<3 { shutter.follow(isWanted: false) }
      #expect(camera.sets.map(\.value) == [1, byDay])
      #expect(camera.sets.allSatisfy { $0.id == CLINUX_CID_EXPOSURE_AUTO_PRIORITY })
    }
  }

  @Test func theConfigurationComesFirst() {
    for name in ["exposure_dynamic_framerate", "exposure_auto_priority"] {
      let settings = [CameraControl(name: name, value: 0)]
      #expect(SlowShutter(CameraControls(FakeCamera.webcam()), settings: settings) == nil)
    }
    let others = [CameraControl(name: "gain", value: 0)]
    #expect(SlowShutter(CameraControls(FakeCamera.webcam()), settings: others) != nil)
  }

  @Test func aCameraWithoutTheControlIsLeftAlone() {
    #expect(SlowShutter(CameraControls(FakeCamera([.init(id: 0x0098_0913, name: "Gain")])), settings: []) == nil)
  }

  @Test func afterAFailureItIsNotTriedForEachPicture() throws {
    let camera = FakeCamera.webcam()
    var shutter = try #require(SlowShutter(CameraControls(camera), settings: []))
    camera.controls[9].failure = EIO
    shutter.follow(isWanted: true)
    camera.controls[9].failure = 0
    for isWanted in [false, true, false] { shutter.follow(isWanted: isWanted) }
    #expect(camera.sets.isEmpty)
  }
}
