internal import CLinux
internal import Codecs
internal import DeviceNames
internal import Frames
internal import Glibc
internal import Synchronization
internal import Wire

/// A V4L2 camera, open in one mode, streaming through memory-mapped buffers.
final class V4L2Camera: MediaSource {
  /// As opened; it changes with the size of a camera's JPEG pictures and with what is odd about them.
  private let current: Mutex<VideoSourceInfo>
  private let measured = Mutex(DamageMeter())
  /// The driver's mode; `info` has even sizes.
  private let set: SetMode
  /// The open stream until the thread takes it or `stop` closes it.
  private let opened: Mutex<CaptureStream?>
  private let demand: Demand?
  private let slowShutter: Demand?
  private let thread = SourceThread()

  /// Timeout for the first picture: some sensors take seconds to wake up.
  private static let firstPictureLimit: Duration = .seconds(5)
  /// Timeout for further pictures, plus one frame interval.
  private static let silenceLimit: Duration = .seconds(2)
  /// A camera of whose pictures none is whole for so long is opened again.
  private static let damageLimit: Duration = .seconds(5)
  private static let slice: Duration = .milliseconds(250)
  private static let pause: Duration = .milliseconds(2)

  var info: VideoSourceInfo { current.withLock { $0 } }
  var damage: Damage { measured.withLock { $0.damage } }

  static func open(_ opening: CameraOpening) throws(DeviceError) -> V4L2Camera {
    let node = opening.stableName.node(for: opening.device.description)
    let camera = try V4L2Camera(
      path: node, request: opening.request, demand: opening.demand, slowShutter: opening.slowShutter)
    opening.stableName.remember(node: node)
    return camera
  }

  /// Opens the camera in the mode nearest to `request` and starts streaming. Without demand only the first picture is
  /// converted, to show that the camera works. Only `formats` are considered. While `slowShutter` is wanted, the camera may
  /// take longer than a frame interval.
  init(
    path: String, request: VideoRequest, demand: Demand? = nil, slowShutter: Demand? = nil,
    formats: Set<CameraFormat> = Set(CameraFormat.allCases)
  ) throws(DeviceError) {
    let modes = try Self.ranked(path, request, formats)
    let camera = try ModeChoice.firstWithRoom(modes, for: request) { (choice) throws(DeviceError) in
      try Self.open(path, choice, request)
    }
    let mode = camera.opened.mode
    current = Mutex(
      VideoSourceInfo(
        device: path, name: camera.opened.name, width: (mode.width + 1) & ~1, height: (mode.height + 1) & ~1,
        framesPerSecond: camera.opened.rate ?? request.framesPerSecond, pixelFormat: mode.format.name, request: request,
        controlProblems: camera.opened.controlProblems,
        refusedMode: camera.refused.first?.text))
    self.demand = demand
    self.slowShutter = slowShutter
    set = mode
    opened = Mutex(camera.takeStream())
  }

  /// Modes from the best one on. Throws `unsupportedFormat` if there is none.
  private static func ranked(
    _ path: String, _ request: VideoRequest, _ formats: Set<CameraFormat>
  ) throws(DeviceError) -> [ModeAtRate] {
    let device = try CameraDevice(path: path)
    let modes = ModeChoice.ranked(device.modes(near: request).filter { formats.contains($0.format) }, for: request)
    guard modes.isEmpty else { return modes }
    let offered = device.formats().map { CameraFormat.name(ofFourcc: $0) }.joined(separator: " ")
    throw DeviceError(device: path, reason: .unsupportedFormat("it offers \(offered.isEmpty ? "none" : offered)"))
  }

  /// The camera, streaming in one of its modes. Opened again for each: after a refusal its buffers would be in the way.
  private static func open(
    _ path: String, _ choice: ModeAtRate, _ request: VideoRequest
  ) throws(DeviceError) -> Streaming {
    let device = try CameraDevice(path: path)
    let name = device.name
    let mode = try setFormat(choice.mode, device.file)
    let rate = setRate(choice.interval, wanted: request.framesPerSecond, device.file)
    let problems = setControls(request.controls, device.file)
    return Streaming(
      stream: try CaptureStream.begin(device.takeFile()), name: name, mode: mode, rate: rate, controlProblems: problems)
  }

  fileprivate struct Streaming: ~Copyable {
    let stream: CaptureStream
    let name: String
    let mode: SetMode
    let rate: Double?
    let controlProblems: [String]
  }

  func start(
    deliver: @escaping @Sendable (VideoFrame) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    thread.start(name: "camera", failed: failed) { (stop) throws(DeviceError) in
      try self.run(until: stop, deliver)
    }
  }

  func stop() {
    thread.stop()
    opened.withLock { $0 = nil }
  }

  private func run(until stop: StopSignal, _ deliver: (VideoFrame) -> Void) throws(DeviceError) {
    guard let stream = opened.withLock({ $0.take() }) else { return }
    var converter = try makeConverter()
    var sequence = SequenceCounter()
    var silence = SilenceWatch(first: Self.firstPictureLimit, then: Self.silenceLimit + frameInterval)
    var hasDelivered = false
    var damagedFor: Duration = .zero
    var shutter = slowShutter.flatMap { _ in
      SlowShutter(CameraControls(SystemControlCalls(descriptor: stream.descriptor)), settings: info.request.controls)
    }
    defer {
      shutter?.follow(isWanted: false)
      // Open until here.
      _ = stream.descriptor
    }
    var poll = PollSet(reading: [stream.descriptor])
    while !stop.wait(with: &poll, timeout: Self.slice) {
      if let slowShutter { shutter?.follow(isWanted: slowShutter.isWanted) }
      if !poll.isReady {
        try silence.quiet(for: Self.slice, device: info.device)
        continue
      }
      guard let filled = try stream.dequeueNewest() else {
        // Ready, but no buffer: some drivers report a fault this way.
        if poll.hasFault { throw stream.fault() }
        // Or a spurious wake-up, which some drivers produce all the time.
        _ = stop.wait(until: MonotonicClock.now + Self.pause)
        try silence.quiet(for: Self.pause, device: info.device)
        continue
      }
      let number = sequence.extend(filled.sequence)
      if !filled.isDamaged, hasDelivered, demand?.isWanted == false {
        silence.heard()
        try stream.queue(filled)
        continue
      }
      let frame =
        filled.isDamaged ? nil : converter.convert(filled.pixels, captureTime: filled.captureTime, sequence: number)
      try stream.queue(filled)
      measured.withLock { $0.add(isDamaged: frame == nil) }
      silence.heard()
      if let frame {
        hasDelivered = true
        damagedFor = .zero
        describe(converter)
        deliver(frame)
      } else {
        damagedFor += frameInterval
        guard damagedFor >= Self.damageLimit else { continue }
        let fault = filled.isDamaged ? nil : converter.fault
        throw DeviceError(
          device: info.device, reason: .damaged(fault ?? "the driver reports them as damaged"),
          advice: "Try another cable or port; it is opened again.")
      }
    }
  }

  private func describe(_ converter: FrameConverter) {
    let size = converter.size
    current.withLock { info in
      let remarks = converter.remarks.sorted().map { "Its pictures are not quite as they should be: \($0)." }
      guard size != (info.width, info.height) || !remarks.allSatisfy(info.remarks.contains) else { return }
      (info.width, info.height) = size
      info.remarks += remarks.filter { !info.remarks.contains($0) }
    }
  }

  private var frameInterval: Duration {
    .nanoseconds(Int64(saturating: 1e9 / max(0.1, info.framesPerSecond)))
  }

  private func makeConverter() throws(DeviceError) -> FrameConverter {
    do throws(CodecError) {
      return try FrameConverter(format: set.format, width: set.width, height: set.height, stride: set.stride)
    } catch {
      throw DeviceError(device: info.device, reason: .unsupportedFormat("no JPEG decoder: \(error)"))
    }
  }

  fileprivate struct SetMode {
    var format: CameraFormat
    var width: Int
    var height: Int
    /// Bytes per row; 0 if the driver does not say.
    var stride: Int
  }

  private static func setFormat(
    _ mode: CameraMode, _ file: borrowing DeviceFile
  ) throws(DeviceError) -> SetMode {
    var wanted = v4l2_format()
    wanted.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    wanted.fmt.pix.width = UInt32(mode.width)
    wanted.fmt.pix.height = UInt32(mode.height)
    wanted.fmt.pix.pixelformat = mode.format.fourcc
    wanted.fmt.pix.field = V4L2_FIELD_ANY.rawValue
    try file.require("VIDIOC_S_FMT", CLINUX_VIDIOC_S_FMT, &wanted)
    let set = wanted.fmt.pix
    let (width, height) = (Int(set.width), Int(set.height))
    guard let format = CameraFormat(fourcc: set.pixelformat), PictureBounds.areUsable(width: width, height: height)
    else {
      let name = CameraFormat.name(ofFourcc: set.pixelformat)
      throw DeviceError(device: file.path, reason: .unsupportedFormat("it insists on \(name) \(width)x\(height)"))
    }
    return SetMode(format: format, width: width, height: height, stride: Int(set.bytesperline))
  }

  /// The camera keeps what was set until it is unplugged, and some forget it then: so it is set at each opening.
  private static func setControls(_ settings: [CameraControl], _ file: borrowing DeviceFile) -> [String] {
    guard !settings.isEmpty else { return [] }
    return CameraControls(SystemControlCalls(descriptor: file.descriptor)).apply(settings)
  }

  /// The rate that the driver then reports; nil if it does not.
  private static func setRate(_ interval: FrameInterval?, wanted: Double, _ file: borrowing DeviceFile) -> Double? {
    var parameters = v4l2_streamparm()
    parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    guard file.control(CLINUX_VIDIOC_G_PARM, &parameters) == 0 else { return interval?.framesPerSecond }
    let canSet = parameters.parm.capture.capability & UInt32(V4L2_CAP_TIMEPERFRAME) != 0
    let wish = interval ?? FrameInterval(numerator: 1000, denominator: UInt32(saturating: max(1, wanted * 1000)))
    if canSet, let wish {
      parameters.parm.capture.timeperframe = v4l2_fract(numerator: wish.numerator, denominator: wish.denominator)
      guard file.control(CLINUX_VIDIOC_S_PARM, &parameters) == 0 else { return interval?.framesPerSecond }
    }
    return FrameInterval(parameters.parm.capture.timeperframe)?.framesPerSecond ?? interval?.framesPerSecond
  }
}

extension OpenedMode<V4L2Camera.Streaming> {
  fileprivate consuming func takeStream() -> CaptureStream { opened.stream }
}
