/// An entry of `cameras[].controls`: a V4L2 control and its value.
public struct CameraControl: Hashable, Sendable {
  /// The driver's name, as `normalized` writes it.
  public var name: String
  /// 0 or 1 for a boolean, the index of the entry for a menu.
  public var value: Int64

  public init(name: String, value: Int64) {
    self.name = name
    self.value = value
  }

  /// The driver's name as v4l2-ctl(1) writes it: lower case, `_` for whatever lies between letters and digits.
  /// "Exposure, Auto" → `exposure_auto`.
  public static func normalized(_ name: String) -> String {
    var result = ""
    var isApart = false
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): append(byte + 32)
      default: isApart = !result.isEmpty
      }
    }
    return result

    func append(_ byte: UInt8) {
      if isApart { result += "_" }
      isApart = false
      result.unicodeScalars.append(Unicode.Scalar(byte))
    }
  }
}
