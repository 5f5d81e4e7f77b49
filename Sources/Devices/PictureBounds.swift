internal import DeviceNames

/// How many pixels a source's pictures may have: whoever writes them, or the file, names any number.
enum PictureBounds {
  /// Parents decode no larger ones. One has 14 MB, and a camera's pipeline holds up to twenty.
  static let maximumPixels = 4096 * 2304

  static func areUsable(width: Int, height: Int) -> Bool {
    16...8192 ~= width && 16...8192 ~= height && width * height <= maximumPixels
  }
}

extension VideoRequest {
  /// Four times what was asked for (twice in each direction) or 1920x1080, whichever is more.
  private var maximumPixels: Int {
    let asked = width.multipliedReportingOverflow(by: height)
    let most = asked.overflow ? .max : asked.partialValue.multipliedReportingOverflow(by: 4).partialValue
    return min(PictureBounds.maximumPixels, max(most, 1920 * 1080))
  }

  /// - Throws: `unsupportedFormat` when pictures of this size would need far more memory than was asked for.
  func check(width: Int, height: Int, device: String) throws(DeviceError) {
    guard PictureBounds.areUsable(width: width, height: height) else {
      throw DeviceError(
        device: device, reason: .unsupportedFormat("its pictures are \(width)x\(height)"),
        advice: "Pictures have 16 pixels in each direction or more, and at most as many as 4096x2304.")
    }
    guard width * height <= maximumPixels else {
      throw DeviceError(
        device: device,
        reason: .unsupportedFormat("its pictures are \(width)x\(height), \(self.width)x\(self.height) are asked for"),
        advice: "Let it make them smaller, or set width and height to what it makes.")
    }
  }

  /// A tenth more is no reason to drop pictures: clocks differ, and 29.97 is called 30.
  static let rateTolerance = 1.1

  /// What comes of a source that delivers `rate` fps.
  func bounded(_ rate: Double) -> Double {
    rate > framesPerSecond * Self.rateTolerance ? framesPerSecond : rate
  }
}
