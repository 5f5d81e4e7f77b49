internal import Wire

/// Gives a camera the name that viewers see.
public struct CameraName: ControlCommand {
  public typealias Reply = [CameraDocument]
  public static let name = "camera.name"
  public static let requirement: Requirement = .admin
  public static let device: ControlDevice? = .camera
  public static let parameters: [ControlParameter] = [
    .text("id", missing: "is missing; camera.list has it"), .text("title", bytes: ControlLimits.titleBytes),
  ]

  public var id: String
  /// Nil: none, so that viewers see the id again.
  public var title: String?

  public init(id: String, title: String? = nil) {
    self.id = id
    self.title = title
  }

  public func validate() throws(ControlError) {
    guard let title, title != title.printable(maximum: title.unicodeScalars.count) else { return }
    throw .badParameter("title", "has characters that cannot be shown")
  }
}
