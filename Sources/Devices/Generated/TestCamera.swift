internal import DeviceNames
internal import Frames
internal import Picture
internal import Wire

/// `test`: the moving test picture.
enum TestCamera {
  static func open(_ opening: CameraOpening) -> PacedVideo {
    let request = opening.request
    let width = min(max(request.width, 80), 4096) & ~1
    let height = min(max(request.height, 60), 4096) & ~1
    let rate = min(max(request.framesPerSecond, 1), 120)
    let info = VideoSourceInfo(
      device: "test", name: "Test picture", width: width, height: height, framesPerSecond: rate, pixelFormat: "I420",
      request: request)
    return PacedVideo(
      info: info, interval: (1000, Int(saturating: (rate * 1000).rounded())), demand: opening.demand,
      makeNext: {
        let picture = TestPicture(width: width, height: height)
        return { (time, sequence) throws(DeviceError) in
          picture.draw(
            captureTime: time, sequence: sequence,
            unixNanoseconds: MonotonicClock.wallClockReference.unixNanoseconds(at: time))
        }
      })
  }
}
