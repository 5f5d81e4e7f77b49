/// Chooses the camera that everybody sees.
public struct CameraSwitch: ControlCommand {
  public typealias Reply = [CameraDocument]
  public static let name = "camera.switch"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .camera
  public static let parameters: [ControlParameter] = [.text("id")]
  /// Counts switches that change the picture.
  public static let rate: ControlRate? = ControlRate(
    burst: 2, interval: .seconds(1), refusal: "The view changes for everybody. Switch once a second at most.")

  /// Nil: the next camera.
  public var id: String?

  public init(id: String? = nil) {
    self.id = id
  }
}
