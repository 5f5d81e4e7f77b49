internal import CLinux

/// The V4L2 pixel formats that can be converted to a `VideoFrame`.
enum CameraFormat: Hashable, Sendable, CaseIterable {
  case yuv420, nv12, nv21, yvu420, yuyv, uyvy, mjpeg, jpeg, grey

  init?(fourcc: UInt32) {
    guard let format = Self.allCases.first(where: { $0.fourcc == fourcc }) else { return nil }
    self = format
  }

  /// As in linux/videodev2.h.
  var fourcc: UInt32 {
    switch self {
    case .yuv420: CLINUX_PIX_FMT_YUV420
    case .nv12: CLINUX_PIX_FMT_NV12
    case .nv21: CLINUX_PIX_FMT_NV21
    case .yvu420: CLINUX_PIX_FMT_YVU420
    case .yuyv: CLINUX_PIX_FMT_YUYV
    case .uyvy: CLINUX_PIX_FMT_UYVY
    case .mjpeg: CLINUX_PIX_FMT_MJPEG
    case .jpeg: CLINUX_PIX_FMT_JPEG
    case .grey: CLINUX_PIX_FMT_GREY
    }
  }

  var isCompressed: Bool { self == .mjpeg || self == .jpeg }

  /// Relative cost of converting a frame to I420: the order of `allCases`. Grey is the last resort.
  var cost: Int { Self.allCases.firstIndex(of: self) ?? .max }

  /// FourCCs without colour, usable or not: brightness alone, infrared, depth (videodev2.h; uvcvideo's for Windows Hello).
  static func isGrey(fourcc: UInt32) -> Bool {
    [
      "GREY", "Y4", "Y6", "Y8", "Y8I", "Y10", "Y10B", "Y10P", "Y12", "Y12I", "Y14", "Y14P", "Y16", "Y16I", "Z16",
      "INZI", "CNF4",
      "INVZ", "INVI", "D16", "L8", "IR8", "IR16",
    ].contains(name(ofFourcc: fourcc & 0x7fff_ffff))
  }

  /// Four characters, as tools print them.
  var name: String { Self.name(ofFourcc: fourcc) }

  static func name(ofFourcc fourcc: UInt32) -> String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: fourcc >> (8 * $0)) & 0x7f }
    let text = bytes.map { 0x20...0x7e ~= $0 ? Character(UnicodeScalar($0)) : "?" }
    return String(String(text).drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
