internal import DeviceNames
internal import Linux

/// `auto`: the first camera that works.
enum AutomaticCamera {
  /// The cameras are tried in numerical order, infrared ones after those with colour, and those that are avoided last. Without
  /// any, the first one on a Raspberry Pi's ribbon cable is tried. If all fail, the most relevant error is thrown.
  static func open(_ opening: CameraOpening) throws(DeviceError) -> any VideoSource {
    var nearest: DeviceError?
    let avoiding = opening.avoiding
    let all = colourFirst(nodes().map { Node(path: $0) })
    for path in all.filter({ !avoiding.contains($0) }) + all.filter({ avoiding.contains($0) }) {
      do throws(DeviceError) {
        return try V4L2Camera(
          path: path, request: opening.request, demand: opening.demand, slowShutter: opening.slowShutter)
      } catch {
        // The error of a metadata node or a decoder says nothing about the camera.
        if case .unsupportedFormat = error.reason, nearest != nil { continue }
        if let known = nearest?.reason, case .unsupportedFormat = known { nearest = error }
        nearest = nearest ?? error
      }
    }
    if nearest == nil, RaspberryPiCamera.isRaspberryPi() {
      do throws(DeviceError) {
        return try RaspberryPiCamera.open(number: 0, request: opening.request, demand: opening.demand)
      } catch {
        if error.reason != .program(RaspberryPiCamera.noCameras) { nearest = error }
      }
    }
    throw nearest
      ?? DeviceError(
        device: "camera", reason: .notFound, advice: "Plug one in; it is used as soon as it is there.")
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
}

extension AutomaticCamera.Node {
  fileprivate init(path: String) {
    self.init(path: path, name: "", formats: [])
    guard let device = try? CameraDevice(path: path) else { return }
    name = device.name
    formats = device.formats()
  }
}
