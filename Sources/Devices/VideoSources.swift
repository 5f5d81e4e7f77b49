public import DeviceNames
public import Frames
internal import Linux
internal import Picture
internal import Wire

/// Opens the camera that the configuration names.
public enum VideoSources {
  /// Opens a device in the mode nearest to `request`; `info` of the result has the actual mode.
  ///
  /// For `auto` the cameras are tried in numerical order, infrared ones after those with colour, and those in `avoiding`
  /// (paths) last: cameras that open but deliver nothing. Without any, the first one on a Raspberry Pi's ribbon cable is tried. If all fail, the most relevant
  /// error is thrown.
  /// While `demand` is off, only the first picture is made and delivered. While `slowShutter` is wanted, a V4L2 camera's
  /// automatic exposure may take longer than a frame interval.
  public static func open(
    _ device: VideoDevice, request: VideoRequest, avoiding: Set<String> = [], demand: Demand? = nil,
    slowShutter: Demand? = nil
  ) throws(DeviceError) -> any VideoSource {
    try open(
      device, request: request, avoiding: avoiding, demand: demand, slowShutter: slowShutter, stableName: StableName())
  }

  static func open(
    _ device: VideoDevice, request: VideoRequest, avoiding: Set<String>, demand: Demand?, slowShutter: Demand?,
    stableName: StableName
  ) throws(DeviceError) -> any VideoSource {
    switch device {
    case .auto: return try openFirst(request, avoiding, demand, slowShutter)
    case .camera(let path):
      let node = stableName.node(for: path)
      let camera = try V4L2Camera(path: node, request: request, demand: demand, slowShutter: slowShutter)
      stableName.remember(node: node)
      return camera
    case .raspberryPi(let number):
      return try RaspberryPiCamera.open(number: number, request: request, demand: demand)
    case .program(let command):
      return try ProgramCamera(
        device: device.description, name: fileName(command.words[0]), words: command.words, format: .y4m,
        request: request, demand: demand, mask: command.mask)
    case .file(let path): return try y4m(path, request, demand)
    case .test: return test(request, demand)
    }
  }

  /// Paths of the video nodes, in numerical order. Not all of them are cameras, but none is part of a Raspberry Pi's
  /// camera pipeline: those open like cameras and deliver raw sensor data, or nothing.
  static func nodes(_ files: SystemFiles = SystemFiles()) -> [String] {
    files.names("/dev")
      .compactMap { name in name.hasPrefix("video") ? Int(name.dropFirst(5)) : nil }
      .sorted()
      .filter { number in
        let name = files.line("/sys/class/video4linux/video\(number)/name") ?? ""
        return !pipelineNames.contains { name.hasPrefix($0) }
      }
      .map { "/dev/video\($0)" }
  }

  /// A video node as far as `auto` has to know it.
  struct Node {
    var path: String
    /// The driver's name; empty if it cannot be opened.
    var name: String
    /// FourCCs; empty if it cannot be opened.
    var formats: [UInt32]

    init(path: String, name: String, formats: [UInt32]) {
      self.path = path
      self.name = name
      self.formats = formats
    }

    fileprivate init(path: String) {
      self.init(path: path, name: "", formats: [])
      guard let device = try? CameraDevice(path: path) else { return }
      name = device.name
      formats = device.formats()
    }

    /// A camera for Windows Hello, or one that measures depth: it offers grey alone, or its name says so.
    var isInfrared: Bool {
      let words = name.lowercased().split { !$0.isLetter }
      return words.contains("ir") || words.contains("infrared") || words.contains("depth")
        || !formats.isEmpty && formats.allSatisfy(CameraFormat.isGrey(fourcc:))
    }
  }

  /// Paths, with infrared cameras last: laptops have them as the first node.
  static func colourFirst(_ nodes: [Node]) -> [String] {
    nodes.filter { !$0.isInfrared }.map(\.path) + nodes.filter(\.isInfrared).map(\.path)
  }

  /// Names of the drivers' nodes: drivers/media/platform of Raspberry Pi's kernel.
  private static let pipelineNames = ["unicam", "bcm2835-isp", "bcm2835-codec", "rp1-cfe", "pispbe", "rpi-hevc-dec"]

  private static func openFirst(
    _ request: VideoRequest, _ avoiding: Set<String>, _ demand: Demand?, _ slowShutter: Demand?
  ) throws(DeviceError) -> any VideoSource {
    var nearest: DeviceError?
    let all = colourFirst(nodes().map { Node(path: $0) })
    for path in all.filter({ !avoiding.contains($0) }) + all.filter({ avoiding.contains($0) }) {
      do throws(DeviceError) {
        return try V4L2Camera(path: path, request: request, demand: demand, slowShutter: slowShutter)
      } catch {
        // The error of a metadata node or a decoder says nothing about the camera.
        if case .unsupportedFormat = error.reason, nearest != nil { continue }
        if let known = nearest?.reason, case .unsupportedFormat = known { nearest = error }
        nearest = nearest ?? error
      }
    }
    if nearest == nil, RaspberryPiCamera.isRaspberryPi() {
      do throws(DeviceError) {
        return try RaspberryPiCamera.open(number: 0, request: request, demand: demand)
      } catch {
        if error.reason != .program(RaspberryPiCamera.noCameras) { nearest = error }
      }
    }
    throw nearest
      ?? DeviceError(
        device: "camera", reason: .notFound, advice: "Plug one in; it is used as soon as it is there.")
  }

  private static func y4m(_ path: String, _ request: VideoRequest, _ demand: Demand?) throws(DeviceError) -> PacedVideo
  {
    let reader = try Y4MReader(MediaFile(path: path), name: path)
    try request.check(width: reader.header.width, height: reader.header.height, device: path)
    let info = VideoSourceInfo(
      device: path, name: fileName(path), width: reader.width, height: reader.height,
      framesPerSecond: request.bounded(reader.header.framesPerSecond), pixelFormat: "Y4M", request: request)
    return PacedVideo(
      info: info, interval: (reader.header.rateDenominator, reader.header.rateNumerator), demand: demand,
      makeNext: {
        var reader = reader
        return { (time, sequence) throws(DeviceError) in try reader.next(captureTime: time, sequence: sequence) }
      })
  }

  private static func test(_ request: VideoRequest, _ demand: Demand?) -> PacedVideo {
    let width = min(max(request.width, 80), 4096) & ~1
    let height = min(max(request.height, 60), 4096) & ~1
    let rate = min(max(request.framesPerSecond, 1), 120)
    let info = VideoSourceInfo(
      device: "test", name: "Test picture", width: width, height: height, framesPerSecond: rate, pixelFormat: "I420",
      request: request)
    return PacedVideo(
      info: info, interval: (1000, Int(saturating: (rate * 1000).rounded())), demand: demand,
      makeNext: {
        let picture = TestPicture(width: width, height: height)
        return { (time, sequence) throws(DeviceError) in
          picture.draw(
            captureTime: time, sequence: sequence,
            unixNanoseconds: MonotonicClock.wallClockReference.unixNanoseconds(at: time))
        }
      })
  }

  static func fileName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}
