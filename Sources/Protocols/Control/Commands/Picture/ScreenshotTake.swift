internal import Pairing

/// Takes a photo at the camera's own resolution. It shows what the live picture does.
public struct ScreenshotTake: ControlCommand {
  public typealias Reply = TransferDocument
  public static let name = "screenshot.take"
  public static let requirement: Requirement = .all([.view, .control])
  public static let device: ControlDevice? = .camera
  public static let parameters: [ControlParameter] = [.text("camera"), .whole("quality", in: ControlLimits.quality)]
  /// A photo costs the board's processor.
  public static let rate: ControlRate? = ControlRate(
    burst: 10, interval: .seconds(2), refusal: "Too many photos; the limit is one in 2 seconds.", sparesParents: true)

  /// Nil: the one that is streamed.
  public var camera: String?
  /// JPEG quality, 1...100.
  public var quality: Int?

  public init(camera: String? = nil, quality: Int? = nil) {
    self.camera = camera
    self.quality = quality
  }
}
