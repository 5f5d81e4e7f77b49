internal import Devices
internal import Frames
internal import Health
internal import Picture
internal import Storage
internal import Wire

/// Whether the machine encodes as fast as the configuration wants pictures: the child's own encoder on test pictures.
enum EncoderCheck {
  /// What was measured.
  struct Speed {
    /// The encoder's own time alone.
    var framesPerSecond: Double
    /// libvpx `cpu-used` at the end: nearer to 0 is better.
    var setting: Int
  }

  // Pictures until the speed governor has found its setting, and as many again to measure.
  private static let settling = 45
  private static let measured = 45
  /// A board that takes longer is too slow anyway.
  private static let patience: Duration = .seconds(6)
  /// `SpeedGovernor` steps faster at 60 % of an interval, so that capture, sound and network have time too.
  private static let room = 1 / 0.6

  /// One finding for each size and rate that is configured.
  static func run(_ configuration: ChildConfiguration, daemon: RunningDaemon) -> [Finding] {
    var seen: Set<String> = []
    return configuration.cameras.filter { seen.insert($0.mode).inserted }.map { camera in
      finding(camera, measure(camera, kbps: kbps(configuration)), viewers: daemon.report?.viewers.count ?? 0)
    }
  }

  private static func kbps(_ configuration: ChildConfiguration) -> Int {
    let range = configuration.video.bitrateKbps
    return min(max(ChildNode.startKbps, range.lowerBound), range.upperBound)
  }

  static func finding(_ camera: ChildConfiguration.Camera, _ speed: Speed?, viewers: Int) -> Finding {
    let what = "encoder"
    guard let speed else {
      return Finding(what, .problem, "\(camera.width)x\(camera.height) cannot be encoded", remedy: smaller(camera))
    }
    var text =
      "\(camera.width)x\(camera.height) at \(Int(speed.framesPerSecond)) frames/s (speed \(speed.setting)); "
      + "\(camera.framerate) are configured"
    if viewers > 0 { text += ", and the daemon encodes beside it for whoever watches now" }
    let wanted = Double(camera.framerate)
    if speed.framesPerSecond < wanted { return Finding(what, .problem, "too slow: \(text)", remedy: smaller(camera)) }
    if speed.framesPerSecond < wanted * room {
      return Finding(what, .warning, "just fast enough: \(text)", remedy: smaller(camera))
    }
    return Finding(what, .ok, text)
  }

  private static func smaller(_ camera: ChildConfiguration.Camera) -> String {
    let advice =
      camera.width * camera.height > 640 * 360
      ? "width: 640, height: 360" : "framerate: \(max(5, camera.framerate / 2))"
    return "In the configuration, for camera \(camera.id): \(advice)"
  }

  /// Nil when the encoder refuses.
  private static func measure(_ camera: ChildConfiguration.Camera, kbps: Int) -> Speed? {
    let picture = TestPicture(width: camera.width, height: camera.height)
    var slot = EncoderSlot(
      settings: .init(
        cameraID: camera.id, device: .test,
        request: VideoRequest(
          width: camera.width, height: camera.height, framesPerSecond: Double(camera.framerate)), startKbps: kbps))
    let interval = Duration.seconds(1) / camera.framerate
    let began = MonotonicClock.now
    var captureTime = began
    var time = Duration.zero
    var count = 0
    for number in 0..<(settling + measured) {
      captureTime = captureTime + interval
      let frame = picture.draw(
        captureTime: captureTime, sequence: UInt64(number), unixNanoseconds: Int64(number) * 33_000_000)
      let start = MonotonicClock.now
      let encoded = slot.encode(frame, kbps: kbps, forceKeyFrame: false)
      let took = MonotonicClock.now - start
      if number == 0, encoded == nil { return nil }
      slot.note(encodeTime: took)
      // On a slow machine the first pictures have to do, but for the key frame.
      let isLate = MonotonicClock.now - began > patience
      if number >= settling || isLate && count == 0 {
        time += took
        count += 1
      }
      if isLate { break }
    }
    return Speed(framesPerSecond: Double(count) / max(time.inSeconds, 1e-6), setting: slot.speed)
  }
}
