/// A picture's size in pixels.
public struct PictureSize: Hashable, Sendable {
  public var width: Int
  public var height: Int
  var area: Int { width * height }
}
