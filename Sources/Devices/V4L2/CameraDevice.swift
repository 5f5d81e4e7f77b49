internal import CLinux
internal import DeviceNames
internal import Glibc
internal import Wire

/// A V4L2 capture node that is open but not streaming, to query its capabilities.
struct CameraDevice: ~Copyable {
  let file: DeviceFile
  /// The driver's name for the camera.
  let name: String
  /// The bus address where it is plugged in, for example "usb-0000:01:00.0-1.2".
  let bus: String

  /// Throws `unsupportedFormat` for a node that is not a camera (metadata, output, memory-to-memory).
  init(path: String) throws(DeviceError) {
    let file = try DeviceFile(path: path, flags: O_RDWR, kind: .camera)
    var capability = v4l2_capability()
    let number = file.control(CLINUX_VIDIOC_QUERYCAP, &capability)
    if number == ENOTTY || number == EINVAL {
      throw DeviceError(device: path, reason: .unsupportedFormat("this is not a V4L2 device"))
    }
    if number != 0 { throw file.error(number, "VIDIOC_QUERYCAP") }
    // capabilities describes the whole device, device_caps this node: a webcam's metadata node differs only there.
    let hasOwn = capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
    let capabilities = hasOwn ? capability.device_caps : capability.capabilities
    guard capabilities & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 else {
      let isPlanar = capabilities & UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0
      throw DeviceError(
        device: path,
        reason: .unsupportedFormat(isPlanar ? "multi-planar capture only" : "this node is not a camera"),
        advice: "`cradle-child devices` lists the cameras.")
    }
    guard capabilities & UInt32(V4L2_CAP_STREAMING) != 0 else {
      throw DeviceError(device: path, reason: .unsupportedFormat("the driver cannot stream"))
    }
    name = withUnsafeBytes(of: capability.card) { Self.text($0) }
    bus = withUnsafeBytes(of: capability.bus_info) { Self.text($0) }
    self.file = file
  }

  /// Hands over the open device, for streaming.
  consuming func takeFile() -> DeviceFile { file }

  /// Every usable mode. For stepwise sizes and rates, the one nearest to `request`, or both ends without a request.
  func modes(near request: VideoRequest?) -> [CameraMode] {
    formats().compactMap { CameraFormat(fourcc: $0) }.flatMap { format in
      sizes(of: format, near: request).map { size in
        CameraMode(
          format: format, width: size.width, height: size.height,
          rates: rates(of: format, width: size.width, height: size.height))
      }
    }
  }

  /// FourCCs of all formats, usable or not.
  func formats() -> [UInt32] {
    var result: [UInt32] = []
    for index in 0..<Self.maximumEntries {
      var description = v4l2_fmtdesc()
      description.index = index
      description.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
      guard file.control(CLINUX_VIDIOC_ENUM_FMT, &description) == 0 else { break }
      result.append(description.pixelformat)
    }
    return result
  }

  private func sizes(of format: CameraFormat, near request: VideoRequest?) -> [(width: Int, height: Int)] {
    var result: [(width: Int, height: Int)] = []
    for index in 0..<Self.maximumEntries {
      var entry = v4l2_frmsizeenum()
      entry.index = index
      entry.pixel_format = format.fourcc
      guard file.control(CLINUX_VIDIOC_ENUM_FRAMESIZES, &entry) == 0 else { break }
      if entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
        result.append((Int(entry.discrete.width), Int(entry.discrete.height)))
        continue
      }
      let steps = entry.stepwise
      guard let request else {
        result.append((Int(steps.min_width), Int(steps.min_height)))
        result.append((Int(steps.max_width), Int(steps.max_height)))
        break
      }
      result.append(
        (
          Self.nearest(to: request.width, least: steps.min_width, most: steps.max_width, step: steps.step_width),
          Self.nearest(to: request.height, least: steps.min_height, most: steps.max_height, step: steps.step_height)
        ))
      break
    }
    if result.isEmpty { result += tried(format, request) }
    return result.filter { 16...16384 ~= $0.width && 16...16384 ~= $0.height }
  }

  /// For drivers without ENUM_FRAMESIZES: the size that TRY_FMT returns for the request.
  private func tried(_ format: CameraFormat, _ request: VideoRequest?) -> [(width: Int, height: Int)] {
    var attempt = v4l2_format()
    attempt.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    attempt.fmt.pix.width = UInt32(request?.width ?? 1280)
    attempt.fmt.pix.height = UInt32(request?.height ?? 720)
    attempt.fmt.pix.pixelformat = format.fourcc
    guard file.control(CLINUX_VIDIOC_TRY_FMT, &attempt) == 0, attempt.fmt.pix.pixelformat == format.fourcc else {
      return []
    }
    return [(Int(attempt.fmt.pix.width), Int(attempt.fmt.pix.height))]
  }

  private func rates(of format: CameraFormat, width: Int, height: Int) -> FrameRates {
    var intervals: [FrameInterval] = []
    for index in 0..<Self.maximumEntries {
      var entry = v4l2_frmivalenum()
      entry.index = index
      entry.pixel_format = format.fourcc
      entry.width = UInt32(width)
      entry.height = UInt32(height)
      guard file.control(CLINUX_VIDIOC_ENUM_FRAMEINTERVALS, &entry) == 0 else { break }
      if entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
        if let interval = FrameInterval(entry.discrete) { intervals.append(interval) }
        continue
      }
      guard let shortest = FrameInterval(entry.stepwise.min), let longest = FrameInterval(entry.stepwise.max) else {
        return .unknown
      }
      return .range(shortest: shortest, longest: longest)
    }
    return intervals.isEmpty ? .unknown : .discrete(intervals)
  }

  /// No driver has more formats, sizes or rates; a broken one may never end its list.
  private static let maximumEntries: UInt32 = 256

  static func nearest(to wanted: Int, least: UInt32, most: UInt32, step: UInt32) -> Int {
    let (least, most, step) = (Int(least), Int(most), max(1, Int(step)))
    guard wanted > least else { return least }
    guard wanted < most else { return most }
    return min(most, least + (wanted - least + step / 2) / step * step)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    // A camera's own words: USB lets it send any.
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).printable()
  }
}

extension FrameInterval {
  init?(_ fraction: v4l2_fract) {
    self.init(numerator: fraction.numerator, denominator: fraction.denominator)
  }
}
