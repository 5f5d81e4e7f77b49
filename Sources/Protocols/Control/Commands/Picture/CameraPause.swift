/// Closes all cameras: nobody sees a picture, and nothing is recorded of it, until `camera.resume`. The sound goes on.
public struct CameraPause: ControlCommand {
  public typealias Reply = [CameraDocument]
  public static let name = "camera.pause"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .camera

  public init() {}
}
