/// How a camera's pictures are turned before anybody sees them: `cameras[].rotate` and `cameras[].mirror`.
public struct Orientation: Hashable, Sendable, CustomStringConvertible {
  /// Clockwise. Before the picture is mirrored.
  public var rotation: Rotation
  /// Left and right are exchanged.
  public var isMirrored: Bool

  public enum Rotation: Int, CaseIterable, ConfigurationText {
    case none = 0
    case quarter = 90
    case half = 180
    case threeQuarters = 270

    public static let allowed = "0, 90, 180 or 270"

    public init?(_ text: String) {
      guard let rotation = Self.allCases.first(where: { $0.description == text }) else { return nil }
      self = rotation
    }

    public var description: String { "\(rawValue)" }
  }

  public init(rotation: Rotation = .none, isMirrored: Bool = false) {
    self.rotation = rotation
    self.isMirrored = isMirrored
  }

  /// Width and height are exchanged.
  public var exchangesSides: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// The size of what comes of a picture of `width` x `height`.
  public func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    exchangesSides ? (height, width) : (width, height)
  }

  /// `rotated by 90°, mirrored`; empty if nothing is turned.
  public var description: String {
    [rotation == .none ? nil : "rotated by \(rotation)°", isMirrored ? "mirrored" : nil].compactMap(\.self)
      .joined(separator: ", ")
  }
}
