/// Opens the cameras again after `camera.pause`.
public struct CameraResume: ControlCommand {
  public typealias Reply = [CameraDocument]
  public static let name = "camera.resume"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .camera

  public init() {}
}
