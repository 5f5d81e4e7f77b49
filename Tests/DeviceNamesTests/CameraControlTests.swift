import DeviceNames
import Testing

@Suite struct CameraControlTests {
  /// As `v4l2-ctl --list-ctrls` prints them.
  @Test(arguments: [
    ("Gain", "gain"), ("Exposure, Auto", "exposure_auto"), ("Exposure (Absolute)", "exposure_absolute"),
    ("White Balance Temperature, Auto", "white_balance_temperature_auto"),
    ("Exposure, Dynamic Framerate", "exposure_dynamic_framerate"), ("Zoom, Absolute", "zoom_absolute"),
    ("H264 I-Frame Period", "h264_i_frame_period"), ("LED1 Mode", "led1_mode"), (" -- Focus -- ", "focus"),
    ("Größe", "gr_e"), ("", ""), ("___", ""), ("already_normal", "already_normal"),
  ])
  func namesAreWrittenAsByV4L2Ctl(driver: String, name: String) {
    #expect(CameraControl.normalized(driver) == name)
    #expect(CameraControl.normalized(name) == name)
  }

  @Test func nightIsAutoOnOrOff() {
    #expect(NightMode.allCases.map { NightMode("\($0)") } == [.auto, .on, .off])
    #expect(["", "Auto", "true", "yes", " on"].allSatisfy { NightMode($0) == nil })
  }
}
