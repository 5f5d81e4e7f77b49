/// What the configuration asks of a camera: an entry of `cameras` without its name, its device and its lamp.
public struct VideoRequest: Hashable, Sendable {
  /// Pixels, of the camera itself: before its pictures are turned.
  public var width: Int
  public var height: Int
  public var framesPerSecond: Double
  /// For cameras of a Raspberry Pi, and for `auto` where it finds one.
  public var raspberryPi: RaspberryPiSettings
  /// For V4L2 cameras, set in this order when the camera is opened.
  public var controls: [CameraControl]
  /// At night the frame rate of a V4L2 camera may fall so that the picture stays bright.
  public var hasSlowShutter = true
  public var orientation = Orientation()

  public init(
    width: Int, height: Int, framesPerSecond: Double, raspberryPi: RaspberryPiSettings = RaspberryPiSettings(),
    controls: [CameraControl] = []
  ) {
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.raspberryPi = raspberryPi
    self.controls = controls
  }

  /// Pixels, after the pictures have been turned.
  public var pictureSize: (width: Int, height: Int) { orientation.size(width, height) }
}
