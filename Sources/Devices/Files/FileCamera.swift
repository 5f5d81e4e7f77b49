internal import DeviceNames

/// `file:`: a Y4M file, played in a loop.
enum FileCamera {
  static func open(_ opening: CameraOpening) throws(DeviceError) -> PacedVideo {
    let (path, request) = (opening.device.argument, opening.request)
    let reader = try Y4MReader(MediaFile(path: path), name: path)
    try request.check(width: reader.header.width, height: reader.header.height, device: path)
    let info = VideoSourceInfo(
      device: path, name: VideoSources.fileName(path), width: reader.width, height: reader.height,
      framesPerSecond: request.bounded(reader.header.framesPerSecond), pixelFormat: "Y4M", request: request)
    return PacedVideo(
      info: info, interval: (reader.header.rateDenominator, reader.header.rateNumerator), demand: opening.demand,
      makeNext: {
        var reader = reader
        return { (time, sequence) throws(DeviceError) in try reader.next(captureTime: time, sequence: sequence) }
      })
  }
}
