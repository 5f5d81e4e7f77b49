import DeviceNames
import Foundation
import Frames
import Linux
import TestSupport
import Testing
import Wire

@testable import Devices

/// Cameras behind programs: Raspberry Pi OS's rpicam-vid, here one that behaves like it, and commands that write Y4M.
@Suite struct ProgramCameraTests {
  private static let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/rpicam-vid").path
  private static let request = VideoRequest(width: 256, height: 128, framesPerSecond: 50)

  private func raspberryPi(
    _ fault: String = "", number: Int = 0, request: VideoRequest = request
  ) throws(DeviceError) -> ProgramCamera {
    try RaspberryPiCamera.open(
      number: number, request: request, demand: nil, program: ["env", "FAKE=\(fault)", Self.program])
  }

  private func program(_ script: String) throws(DeviceError) -> any VideoSource {
    guard let device = VideoDevice("exec:sh -c '\(script)'") else { throw DeviceError(device: "", reason: .busy) }
    return try VideoSources.open(device, request: Self.request)
  }

  /// The first pictures, and the error if one comes first.
  private func pictures(_ source: any VideoSource, _ count: Int) -> (frames: [VideoFrame], error: DeviceError?) {
    let mailbox = Mailbox<Result<VideoFrame, DeviceError>>(capacity: 64)
    source.start(deliver: { mailbox.put(.success($0)) }, failed: { mailbox.put(.failure($0)) })
    defer { source.stop() }
    var frames: [VideoFrame] = []
    while frames.count < count, let next = mailbox.take(until: MonotonicClock.now + .seconds(20)) {
      switch next {
      case .success(let frame): frames.append(frame)
      case .failure(let error): return (frames, error)
      }
    }
    return (frames, nil)
  }

  /// What is shown of an error is on the card, in events and in the log.
  @Test func anErrorIsShownWithoutCredentials() throws {
    let said = "echo rtsp://admin:SECRETPW@cam/ >&2; echo the error is SECRETPW >&2"
    #expect {
      try program("\(said); exit 1 # rtsp://u:SECRETPW@cam/")
    } throws: { error in
      guard let error = error as? DeviceError else { return false }
      return error.summary == "the error is ***" && !error.description.contains("SECRETPW")
    }
    // So much that its beginning is lost, in the middle of the URL.
    let long = "printf rtsp://admin:SECRETPW@%04070d/ 0 >&2"
    #expect {
      try program("\(long); exit 1")
    } throws: { error in !"\(error)".contains("ETPW") }
  }

  // MARK: rpicam-vid

  @Test func picturesOfARibbonCameraComeInLimitedRange() throws {
    let before = MonotonicClock.now
    let camera = try raspberryPi()
    #expect(camera.info.mode == "256x128 at 50 frames/s, YUV420" && !camera.info.differsFromRequest)
    let (frames, error) = pictures(camera, 20)
    #expect(error == nil && frames.count == 20)
    for (number, frame) in frames.enumerated() {
      #expect(frame.width == 256 && frame.height == 128 && frame.sequence == UInt64(number))
      #expect(frame.y[0] == 16 && frame.y[255] == 235 && frame.y[127 * frame.strideY + 200] == 235)
      #expect(frame.u[0] == UInt8((number * 225 + 4096) >> 8) && frame.v[0] == 128)
      #expect(frame.captureTime > before)
    }
    #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
  }

  /// 64 divides the width, but half of it is no whole number of the frame's rows.
  @Test func rowsLandWhereTheyBelongInEverySize() throws {
    for width in [64, 192, 320] {
      let camera = try raspberryPi(request: VideoRequest(width: width, height: 48, framesPerSecond: 50))
      let frame = try #require(pictures(camera, 1).frames.first)
      for row in [0, 47] {
        #expect(frame.y[row * frame.strideY + width / 2 - 1] == 16 && frame.y[row * frame.strideY + width / 2] == 235)
      }
      #expect(frame.u[23 * frame.strideUV + width / 2 - 1] == 16 && frame.v[23 * frame.strideUV + width / 2 - 1] == 128)
    }
  }

  @Test func theSizeThatLibcameraSetIsFollowed() throws {
    let camera = try raspberryPi("adjusted")
    #expect(camera.info.width == 128 && camera.info.height == 64 && camera.info.differsFromRequest)
    #expect(pictures(camera, 3).frames.map(\.width) == [128, 128, 128])
  }

  /// What its hardware can turn is turned there, and not again by us.
  @Test func aRibbonCameraTurnsByItself() throws {
    var request = Self.request
    for (orientation, left) in [
      (Orientation(rotation: .half), 235), (Orientation(isMirrored: true), 235),
      (Orientation(rotation: .half, isMirrored: true), 16), (Orientation(rotation: .quarter), 16),
    ] as [(Orientation, UInt8)] {
      request.orientation = orientation
      let camera = try raspberryPi(request: request)
      #expect(camera.info.orientation == (orientation.exchangesSides ? Orientation() : orientation))
      let frame = try #require(pictures(camera, 1).frames.first)
      #expect(frame.y[0] == left && frame.y[255] == 251 - left, "\(orientation)")
    }
  }

  @Test func programsArgumentsFollowTheConfiguration() {
    var request = VideoRequest(width: 1280, height: 720, framesPerSecond: 30)
    #expect(
      RaspberryPiCamera.arguments(number: 1, request).joined(separator: " ")
        == "--camera 1 --codec yuv420 --width 1280 --height 720 --framerate 30 --timeout 0 --nopreview --flush "
        + "--awb auto --output -")
    request.framesPerSecond = 12.5
    request.raspberryPi = RaspberryPiSettings(
      mode: "1640:1232:10:P", tuningFile: "/x/imx219_noir.json", whiteBalance: "indoor", shutter: 66_000, gain: 8)
    #expect(
      RaspberryPiCamera.arguments(number: 0, request).joined(separator: " ").hasSuffix(
        "--framerate 12.5 --timeout 0 --nopreview --flush --awb indoor --mode 1640:1232:10:P "
          + "--tuning-file /x/imx219_noir.json --shutter 66000 --gain 8 --output -"))
  }

  @Test(arguments: [
    ("none", 0, "no cameras available", "ribbon cable"), ("legacy", 0, "legacy camera stack", "raspi-config"),
    ("", 1, "selected camera is not available", "rpicam-hello --list-cameras"),
  ])
  func whatTheProgramRefusesIsSaidInItsWords(fault: String, number: Int, words: String, advice: String) {
    let error = #expect(throws: DeviceError.self) { try raspberryPi(fault, number: number) }
    #expect(
      error?.summary.contains(words) == true && error?.advice?.contains(advice) == true, "\(String(describing: error))")
    #expect(error?.device == "rpicam:\(number)")
  }

  @Test func aMissingProgramNamesItsPackage() {
    let error = #expect(throws: DeviceError.self) {
      try RaspberryPiCamera.open(number: 0, request: Self.request, demand: nil, program: ["rpicam-vid-is-not-here"])
    }
    #expect(error?.summary == "there is no program rpicam-vid-is-not-here")
    #expect(error?.advice?.contains("rpicam-apps-lite") == true)
  }

  @Test func aWidthThatWouldBePaddedIsRefused() {
    let error = #expect(throws: DeviceError.self) {
      try raspberryPi(request: VideoRequest(width: 854, height: 480, framesPerSecond: 30))
    }
    #expect(error?.advice?.contains("1280x720") == true)
  }

  @Test(arguments: [
    ("halves", "it ended with exit status 0"), ("dies", "it was ended by signal 9"),
    ("hangs", "ERROR: Device timeout detected, attempting a restart!!!"),
  ])
  func aProgramThatFailsIsNoticedAfterItsLastWholePicture(fault: String, words: String) throws {
    let (frames, error) = pictures(try raspberryPi(fault), 50)
    #expect(frames.count == 5)
    #expect(error?.summary.hasPrefix(words) == true, "\(String(describing: error))")
    if fault == "hangs" { #expect(error?.advice?.contains("ribbon cable") == true) }
  }

  @Test func aFloodOfMessagesDelaysNothing() throws {
    let (frames, error) = pictures(try raspberryPi("floods"), 30)
    #expect(frames.count == 30 && error == nil)
  }

  @Test func aProgramThatWillNotEndIsKilled() throws {
    let camera = try raspberryPi("stubborn")
    let began = MonotonicClock.now
    #expect(pictures(camera, 2).frames.count == 2)
    #expect(MonotonicClock.now - began < .seconds(10))
  }

  @Test func theListOfCamerasIsRead() {
    let text = """
      Available cameras
      -----------------
      0 : imx708_noir [4608x2592 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a)
          Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]
                                   2304x1296 [56.03 fps - (0, 0)/4608x2592 crop]

      1 : imx219 [3280x2464 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@80000/imx219@10)
          Modes: 'SRGGB8' : 640x480 [103.33 fps - (1000, 752)/1280x960 crop]
      """
    let cameras = RaspberryPiDescription.parse(text)
    #expect(cameras.map(\.device) == ["rpicam:0", "rpicam:1"])
    #expect(cameras.map(\.name) == ["imx708_noir [4608x2592 10-bit RGGB]", "imx219 [3280x2464 10-bit RGGB]"])
    #expect(cameras.map(\.modes.count) == [2, 1] && cameras[0].modes[1].hasPrefix("2304x1296 [56.03 fps"))
    #expect(RaspberryPiDescription.parse("No cameras available!").isEmpty)
  }

  @Test func nodesOfACameraPipelineAreNoCameras() throws {
    let root = try FakeRoot([
      "/dev/video0": "", "/dev/video1": "", "/dev/video10": "", "/sys/class/video4linux/video0/name": "unicam-image\n",
      "/sys/class/video4linux/video1/name": "HD Webcam: HD Webcam\n",
      "/sys/class/video4linux/video10/name": "bcm2835-codec-decode\n",
      "/sys/firmware/devicetree/base/model": "Raspberry Pi 4 Model B Rev 1.4\0",
    ])
    #expect(AutomaticCamera.nodes(root.files) == ["/dev/video1"])
    #expect(RaspberryPiCamera.isRaspberryPi(root.files))
    #expect(try !RaspberryPiCamera.isRaspberryPi(FakeRoot([:]).files))
  }

  // MARK: Programs that write Y4M

  /// Odd sizes, too: the last row and column are left out.
  @Test func aCommandsPicturesAreShown() throws {
    let camera = try program(
      #"printf "YUV4MPEG2 W17 H19 F25:1 C420jpeg\n"; for i in 1 2 3; do printf "FRAME\n"; head -c 503 /dev/zero | tr "\\0" "\\100"; done; sleep 5"#
    )
    #expect(camera.info.mode == "16x18 at 25 frames/s, Y4M")
    let frames = pictures(camera, 3).frames
    #expect(
      frames.count == 3 && frames.allSatisfy { $0.y[0] == 64 && $0.u[0] == 64 && $0.v[8 * $0.strideUV + 7] == 64 })
  }

  /// 4096x2304 is what parents decode; four times what is asked for, or 1920x1080, is what it may cost.
  @Test func muchLargerPicturesThanAskedForAreRefused() throws {
    func open(_ width: Int, _ height: Int, _ request: VideoRequest) throws(DeviceError) -> VideoSourceInfo {
      let script = "printf \"YUV4MPEG2 W\(width) H\(height) F25:1\\n\"; sleep 5"
      guard let device = VideoDevice("exec:sh -c '\(script)'") else { throw DeviceError(device: "", reason: .busy) }
      let source = try VideoSources.open(device, request: request)
      defer { source.stop() }
      return source.info
    }
    let hd = VideoRequest(width: 1280, height: 720, framesPerSecond: 20)
    #expect(try open(2560, 1440, hd).framesPerSecond == 20)
    #expect(try open(1920, 1080, Self.request).width == 1920)
    #expect(try open(2304, 4096, VideoRequest(width: 2304, height: 4096, framesPerSecond: 5)).height == 4096)
    let huge = VideoRequest(width: 7680, height: 4320, framesPerSecond: 30)
    for (width, height, request) in [
      (2562, 1440, hd), (1922, 1080, Self.request), (4098, 2304, huge), (8192, 4608, huge),
    ] {
      let error = #expect(throws: DeviceError.self) { try open(width, height, request) }
      #expect(
        error?.summary.contains("\(width)x\(height)") == true && error?.advice != nil, "\(String(describing: error))")
    }
  }

  /// It is read at four times the rate, too, or it would keep two cores busy.
  @Test func aProgramThatWritesAsFastAsItCanIsBounded() throws {
    let source = try program(
      #"printf "YUV4MPEG2 W256 H128 F240:1\n"; while :; do printf "FRAME\n"; head -c 49152 /dev/zero; done"#)
    #expect(source.info.framesPerSecond == 50)
    let frames = pictures(source, 100).frames
    let seconds = (try #require(frames.last).captureTime - frames[0].captureTime).inSeconds
    // 55 a second, and half a second's at once; however slow this machine is, it is no faster.
    #expect(frames.count == 100 && seconds > 1.2)
    #expect(try #require(frames.last).sequence < UInt64((seconds + 0.7) * 220))
  }

  @Test func whatAProgramSaysControlsNoTerminal() {
    let error = #expect(throws: DeviceError.self) {
      try program(#"printf "error \033[2J\302\2331m\342\200\256x\177\ty" >&2; exit 1"#)
    }
    #expect(error?.summary == "error x y")
  }

  @Test(arguments: [
    ("echo hello; sleep 5", "not a Y4M stream"), ("echo it is broken >&2; exit 3", "it is broken"),
    ("exit 3", "it ended with exit status 3"), (#"printf "YUV4MPEG2 W16 H16 C444\n"; sleep 5"#, "C444"),
    (#"printf "YUV4MPEG2 W16"; sleep 1"#, "it ended with exit status 0"),
  ])
  func aCommandThatWritesSomethingElseIsRefused(script: String, words: String) {
    let error = #expect(throws: DeviceError.self) { try program(script) }
    #expect(error?.summary.contains(words) == true, "\(String(describing: error))")
  }

  @Test func aCommandThatLosesItsPlaceIsNoticed() throws {
    let camera = try program(
      #"printf "YUV4MPEG2 W16 H16 C420\nFRAME\n"; head -c 384 /dev/zero; head -c 384 /dev/zero; sleep 5"#)
    let (frames, error) = pictures(camera, 2)
    #expect(frames.count == 1)
    #expect(error?.summary.contains("Either the pictures are no longer 16x16") == true, "\(String(describing: error))")
  }

  @Test func aSizeThatChangesIsSaidAsThat() throws {
    let picture = #"printf "FRAME\n"; head -c 384 /dev/zero;"#
    // The same size again is no change.
    let camera = try program(
      #"printf "YUV4MPEG2 W16 H16 C420\n"; \#(picture) printf "YUV4MPEG2 W16 H16 F25:1\n"; \#(picture)"#
        + #" sleep 0.3; printf "YUV4MPEG2 W32 H16 C420\n"; \#(picture) \#(picture) sleep 5"#)
    let (frames, error) = pictures(camera, 9)
    #expect(!frames.isEmpty)
    #expect(error?.summary.contains("changed from 16x16 to 32x16") == true, "\(String(describing: error))")
  }

  /// Otherwise poll(2) would return at once, for ever.
  @Test func aCommandThatClosesItsStandardErrorIsNotWaitedForThere() throws {
    var pipe = try ProgramPipe(["sh", "-c", "echo said >&2; exec 2>&-; sleep 30"])
    let deadline = MonotonicClock.now + .seconds(10)
    while pipe.errors >= 0, MonotonicClock.now < deadline {
      var poll = PollSet(reading: [pipe.errors])
      _ = poll.wait(.milliseconds(100), or: -1)
      pipe.readErrors()
    }
    #expect(pipe.errors == -1)
    #expect(pipe.words == "said")
  }

  @Test func whatACommandStartedEndsWithIt() throws {
    let mark = "cradle-\(UUID().uuidString)"
    let camera = try program(#"printf "YUV4MPEG2 W16 H16 C420\n"; sh -c "sleep 300; : \#(mark)" & sleep 300"#)
    camera.stop()
    let left = SystemFiles().names("/proc").filter { name in
      Int(name) != nil && SystemFiles().text("/proc/\(name)/cmdline")?.contains(mark) == true
    }
    #expect(left.isEmpty)
  }
}
