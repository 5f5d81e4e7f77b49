internal import DeviceNames
internal import Frames
internal import Health
internal import Picture
internal import Pipelines
internal import Storage
internal import Wire

/// Whether the machine encodes at the configured frame rate: runs the child's own encoder on test pictures.
enum EncoderCheck {
  /// A measurement.
  struct Speed {
    /// Counts only the encoder's own time.
    var framesPerSecond: Double
    /// Final libvpx `cpu-used`: closer to 0 is better.
    var setting: Int
  }

  // Pictures until the speed governor has settled, and the same number to measure.
  private static let settling = 45
  private static let measured = 45
  /// A board that takes longer is too slow anyway.
  private static let patience: Duration = .seconds(6)
  /// `SpeedGovernor` speeds up at 60 % of a frame interval, to leave time for capture, sound and network.
  private static let room = 1 / 0.6

  /// One finding for each configured size and rate.
  static func run(_ configuration: ChildConfiguration, daemon: RunningDaemon) -> [Finding] {
    var cameras: [ChildConfiguration.Camera] = []
    for camera in configuration.cameras where !cameras.contains(where: { $0.mode == camera.mode }) {
      cameras.append(camera)
    }
    return cameras.map { camera in
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
      return Finding(
        what, .problem, "\(camera.size) cannot be encoded",
        remedy: "Choose another size in the configuration: 640x360, for example.")
    }
    var text =
      "\(camera.size) at \(rate(speed.framesPerSecond)) frames/s (speed \(speed.setting)); "
      + "\(camera.framerate) are configured"
    if viewers > 0 { text += ", and the daemon encodes beside it for whoever watches now" }
    let wanted = Double(camera.framerate)
    if speed.framesPerSecond < wanted {
      return Finding(what, .problem, "too slow: \(text)", remedy: smaller(camera, speed.framesPerSecond))
    }
    if speed.framesPerSecond < wanted * room {
      return Finding(what, .warning, "just fast enough: \(text)", remedy: smaller(camera, speed.framesPerSecond))
    }
    return Finding(what, .ok, text)
  }

  /// `117`; `2.3` below 10.
  private static func rate(_ value: Double) -> String {
    value >= 10 ? "\(Int(saturating: value))" : "\(value.tenths)"
  }

  // Sizes that cameras have, of both shapes; widths that rpicam-vid takes, too.
  private static let wide = [(1280, 720), (960, 540), (640, 360), (320, 180)]
  private static let narrow = [(800, 600), (640, 480), (320, 240)]
  /// Below this rate a smaller picture is better.
  private static let leastFramerate = 10

  /// A size and rate with enough headroom, from the measurement: encoding time is proportional to the number of pixels.
  private static func smaller(_ camera: ChildConfiguration.Camera, _ speed: Double) -> String {
    let affordable = speed / room * Double(camera.request.width * camera.request.height)
    let own = (camera.request.width, camera.request.height)
    let smaller = (camera.request.width * 3 > camera.request.height * 4 ? wide : narrow).filter {
      $0.0 < camera.request.width
    }
    /// At the configured rate, or as near to it as holds.
    func rate(_ size: (Int, Int)) -> Int {
      min(camera.framerate, Int(saturating: affordable / Double(size.0 * size.1)))
    }
    let enough = min(camera.framerate, leastFramerate)
    let size =
      smaller.first { $0.0 >= 640 && rate($0) == camera.framerate }
      ?? ([own] + smaller).first { $0.0 <= 640 && rate($0) >= enough } ?? smaller.last ?? own
    var parts: [String] = []
    if size != own { parts.append("width: \(size.0), height: \(size.1)") }
    let held = max(5, rate(size))
    if held < camera.framerate { parts.append("framerate: \(held)") }
    guard !parts.isEmpty else { return "This machine is too slow for any picture." }
    return "In the configuration, for camera \(camera.id): \(parts.joined(separator: ", "))"
  }

  /// Nil if the encoder fails.
  private static func measure(_ camera: ChildConfiguration.Camera, kbps: Int) -> Speed? {
    let size = camera.request.pictureSize
    let picture = TestPicture(width: size.width, height: size.height)
    var slot = EncoderSlot(
      settings: .init(cameraID: camera.id, device: .test, request: camera.request, startKbps: kbps))
    let interval = Duration.seconds(1) / camera.framerate
    let began = MonotonicClock.now
    var times: [Duration] = []
    while times.count < settling + measured, times.count < 2 || MonotonicClock.now - began < patience {
      let frame = picture.draw(
        captureTime: began + interval * times.count, sequence: UInt64(times.count),
        unixNanoseconds: interval.nanoseconds * Int64(times.count))
      let start = MonotonicClock.now
      let encoded = slot.encode(frame, kbps: kbps, forceKeyFrame: false)
      let took = MonotonicClock.now - start
      if times.isEmpty, encoded == nil { return nil }
      slot.note(encodeTime: took)
      times.append(took)
    }
    // The first is a key frame. If time ran out, use the second half of what there is.
    let last = times.suffix(min(measured, times.count / 2))
    let mean = last.reduce(.zero, +) / last.count
    return Speed(framesPerSecond: 1 / max(mean.inSeconds, 1e-6), setting: slot.speed)
  }
}
