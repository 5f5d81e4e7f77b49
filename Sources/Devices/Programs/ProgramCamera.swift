internal import DeviceNames
internal import Frames
internal import Glibc
internal import Synchronization
internal import Wire

/// A camera behind a program: it writes pictures to a pipe, and we read them.
final class ProgramCamera: MediaSource {
  let info: VideoSourceInfo
  private let isFullRange: Bool
  /// The running program until the thread takes it or `stop` ends it.
  private let opened: Mutex<Opened?>
  private let demand: Demand?
  private let advice: @Sendable (_ words: String) -> String?
  private let thread = SourceThread()

  private struct Opened: ~Copyable {
    var pipe: ProgramPipe
    var reader: PictureReader
  }

  /// What the program writes.
  enum Format {
    /// Bare I420 pictures of this size, in full range; width and height are even.
    case fullRange(width: Int, height: Int, framesPerSecond: Double)
    /// A Y4M header, then pictures.
    case y4m
  }

  /// How long a program may take from its start to its first bytes: libcamera and a sensor need about a second.
  private static let startPatience: Duration = .seconds(8)
  private static let firstPictureLimit: Duration = .seconds(5)
  /// Without a picture for this long plus one interval, the program hangs.
  private static let silenceLimit: Duration = .seconds(2)
  private static let slice: Duration = .milliseconds(250)
  /// A program that writes more than this many times the pictures that are asked for waits for us, as nothing else would
  /// slow it down. Below, what comes before its time is read and dropped, so that what is shown is never old.
  private static let readAhead = 4.0

  /// `exec:`: a program that writes Y4M.
  static func open(_ opening: CameraOpening) throws(DeviceError) -> ProgramCamera {
    guard let command = ProgramCommand(opening.device.argument) else {
      preconditionFailure("the name was checked when it was read")
    }
    return try ProgramCamera(
      device: opening.device.description, name: command.mask.masked(VideoSources.fileName(command.words[0])),
      words: command.words,
      format: .y4m, request: opening.request, demand: opening.demand, mask: command.mask)
  }

  /// Starts the program and waits for its first bytes.
  ///
  /// - Parameters:
  ///   - device: as in the configuration.
  ///   - words: the program and its arguments.
  ///   - size: the picture's size, which the program's messages may correct; nil: as in `format`.
  ///   - orientation: how the program has turned the pictures.
  ///   - mask: hides credentials of the words in what the program says.
  ///   - advice: what can be done about the program's last words.
  init(
    device: String, name: String, words: [String], format: Format, request: VideoRequest, demand: Demand?,
    size: (_ said: String) -> (width: Int, height: Int)? = { _ in nil }, orientation: Orientation = Orientation(),
    mask: CredentialMask = CredentialMask(), advice: @escaping @Sendable (_ words: String) -> String? = { _ in nil }
  ) throws(DeviceError) {
    var pipe: ProgramPipe
    do throws(ProgramPipe.SpawnError) {
      pipe = try ProgramPipe(words, mask: mask)
    } catch {
      throw Self.cannotRun(mask.masked(words[0]), error.number, device: device, advice: advice)
    }
    try Self.awaitFirstBytes(&pipe, device, advice)
    pipe.readErrors()
    var width: Int
    var height: Int
    let rate: Double
    switch format {
    case .fullRange(let wantedWidth, let wantedHeight, let framesPerSecond):
      (width, height) = size(pipe.saidLately) ?? (wantedWidth, wantedHeight)
      rate = framesPerSecond
      isFullRange = true
    case .y4m:
      let header = try Self.header(&pipe, device)
      (width, height, rate) = (header.width, header.height, header.framesPerSecond)
      isFullRange = false
    }
    try request.check(width: width, height: height, device: device)
    info = VideoSourceInfo(
      device: device, name: name, width: width & ~1, height: height & ~1, framesPerSecond: request.bounded(rate),
      pixelFormat: isFullRange ? "YUV420" : "Y4M", request: request, orientation: orientation)
    self.demand = demand
    self.advice = advice
    opened = Mutex(Opened(pipe: pipe, reader: PictureReader(width: width, height: height, isY4M: !isFullRange)))
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
    guard var program = opened.withLock({ $0.take() }) else { return }
    let interval = Duration.nanoseconds(Int64(saturating: 1e9 / max(0.1, info.framesPerSecond)))
    var silence = SilenceWatch(first: Self.firstPictureLimit, then: Self.silenceLimit + interval)
    var hasDelivered = false
    let rate = info.request.framesPerSecond * VideoRequest.rateTolerance
    var delivered = RateBound(rate: rate)
    var read = RateBound(rate: rate * Self.readAhead)
    while true {
      var poll = PollSet(reading: [program.pipe.output, program.pipe.errors])
      let waitingSince = MonotonicClock.now
      if stop.wait(with: &poll, timeout: Self.slice) { return }
      program.pipe.readErrors()
      switch program.reader.read(from: program.pipe.output) {
      case .frame(let frame):
        silence.heard()
        let now = MonotonicClock.now
        read.count(now)
        if read.opensAt > now, stop.wait(until: read.opensAt) { return }
        guard !hasDelivered || demand?.isWanted != false, delivered.admits(now) else { continue }
        if isFullRange { frame.limitRange() }
        hasDelivered = true
        deliver(frame)
      case .wait:
        do throws(DeviceError) {
          try silence.quiet(for: MonotonicClock.now - waitingSince, device: info.device)
        } catch {
          // A program that hangs has often said why.
          throw program.pipe.words.map { failure($0) } ?? error
        }
      case .end:
        throw failure(program.pipe.ending())
      case .failed(let number):
        throw DeviceError(device: info.device, reason: .io(operation: "read", errno: number))
      case .notAPicture:
        throw DeviceError(
          device: info.device,
          reason: .invalidFile(
            "a picture does not begin where the one before it should end. Either the pictures are no longer "
              + "\(program.reader.size), which must not change, or something else writes to its output"))
      case .sizeChanged(let header):
        throw DeviceError(
          device: info.device,
          reason: .invalidFile(
            "its pictures have changed from \(program.reader.size) to \(header.width)x\(header.height); they must keep one size"
          ))
      }
    }
  }

  private func failure(_ words: String) -> DeviceError {
    DeviceError(device: info.device, reason: .program(words), advice: advice(words))
  }

  private static func cannotRun(
    _ program: String, _ number: Int32, device: String, advice: (String) -> String?
  ) -> DeviceError {
    switch number {
    case ENOENT:
      let words = "there is no program \(program)"
      return DeviceError(device: device, reason: .program(words), advice: advice(words))
    case EACCES: return DeviceError(device: device, reason: .program("\(program) may not be run"))
    default: return DeviceError(device: device, reason: .io(operation: "run \(program)", errno: number))
    }
  }

  private static func awaitFirstBytes(
    _ pipe: inout ProgramPipe, _ device: String, _ advice: (String) -> String?
  ) throws(DeviceError) {
    let deadline = MonotonicClock.now + startPatience
    while MonotonicClock.now < deadline {
      var poll = PollSet(reading: [pipe.output])
      _ = poll.wait(.milliseconds(50), or: -1)
      pipe.readErrors()
      if poll.hasInput { return }
      // Otherwise it has closed its output.
      guard poll.hasFault else { continue }
      let words = pipe.ending()
      throw DeviceError(device: device, reason: .program(words), advice: advice(words))
    }
    let words = pipe.words
    throw DeviceError(
      device: device,
      reason: words.map { .program($0) } ?? .silent(milliseconds: Int(saturating: startPatience.inMilliseconds)),
      advice: words.flatMap(advice))
  }

  private static func header(_ pipe: inout ProgramPipe, _ device: String) throws(DeviceError) -> Y4MHeader {
    var line: [UInt8] = []
    let deadline = MonotonicClock.now + startPatience
    var byte: UInt8 = 0
    while line.count < Y4MHeader.maximumBytes, MonotonicClock.now < deadline, line.last != UInt8(ascii: "\n") {
      // The first bytes alone tell what is no Y4M.
      guard zip(line, Y4MHeader.magic.utf8).allSatisfy({ $0 == $1 }) else { break }
      let count = read(pipe.output, &byte, 1)
      if count == 1 {
        line.append(byte)
      } else if count == 0 {
        throw DeviceError(device: device, reason: .program(pipe.ending()))
      } else {
        MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(5))
      }
    }
    do throws(Y4MError) {
      return try Y4MHeader.parse(line).header
    } catch {
      throw DeviceError(
        device: device, reason: .invalidFile(error.text.replacing("file ", with: "stream ")),
        advice: "The command has to write Y4M to its standard output, such as ffmpeg's `-f yuv4mpegpipe -`.")
    }
  }
}
