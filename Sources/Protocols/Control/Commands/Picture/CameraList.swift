internal import Pairing

/// The cameras, and which one is streamed.
public struct CameraList: ControlCommand {
  public typealias Reply = [CameraDocument]
  public static let name = "camera.list"
  public static let requirement: Requirement = .any([.view, .control])
  public static let device: ControlDevice? = .camera
  public init() {}
}
