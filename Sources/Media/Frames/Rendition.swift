public import VideoFormats

/// One of the forms in which a camera's picture is encoded, each for viewers with paths of a kind.
public enum Rendition: Int, CaseIterable, Comparable, Sendable {
  /// 180 rows, 10 fps.
  case low
  /// 360 rows, 30 fps.
  case middle
  /// As the camera delivers it.
  case high
  /// The same from an encoder of its own, with a key frame every few seconds: for players that never ask for one, while others
  /// watch `high`.
  case refreshed

  /// Those between which a viewer's path decides, the smallest first.
  public static let ladder: [Rendition] = [.low, .middle, .high]

  public static func < (one: Rendition, other: Rendition) -> Bool { one.rawValue < other.rawValue }

  /// Pixels of the shorter side; nil: the camera's.
  private var shorterSide: Int? {
    switch self {
    case .high, .refreshed: nil
    case .middle: 360
    case .low: 180
    }
  }

  private var maximumFramesPerSecond: Int? {
    switch self {
    case .high, .refreshed: nil
    case .middle: 30
    case .low: 10
    }
  }

  /// In fps, if the camera delivers more; nil: all of them.
  public func maximumFramesPerSecond(of codec: VideoCodec) -> Int? {
    codec == .h264 ? maximumFramesPerSecond ?? H264Level.maximumFramesPerSecond : maximumFramesPerSecond
  }

  /// Its size in pixels, even, for a camera's pictures of `width` × `height`; nil for a camera whose own are hardly larger.
  public func size(ofCamera width: Int, _ height: Int, codec: VideoCodec = .vp8) -> (width: Int, height: Int)? {
    guard let shorterSide else {
      return codec == .h264 ? Self.withinLevel(width, height) : (width, height)
    }
    let shorter = min(width, height)
    // Less than half as much again in each direction saves too little for an encoder of its own.
    guard shorter * 2 >= shorterSide * 3 else { return nil }
    func scaled(_ side: Int) -> Int { max(2, (side * shorterSide / shorter + 1) & ~1) }
    return (scaled(width), scaled(height))
  }

  /// The largest picture of the same shape that players of H.264 take.
  private static func withinLevel(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    guard !H264Level.fits(width: width, height: height) else { return (width, height) }
    let shorter = min(width, height)
    func scaled(_ side: Int, to rows: Int) -> Int { max(16, (side * rows / shorter + 1) & ~1) }
    var rows = shorter & ~7
    while rows > 16, !H264Level.fits(width: scaled(width, to: rows), height: scaled(height, to: rows)) { rows -= 8 }
    return (scaled(width, to: rows), scaled(height, to: rows))
  }
}

/// One encoder of a camera. What a viewer is sent comes from one at a time.
public struct VideoEncoding: Hashable, Sendable {
  public var codec: VideoCodec
  public var rendition: Rendition

  public init(_ codec: VideoCodec, _ rendition: Rendition) {
    self.codec = codec
    self.rendition = rendition
  }
}

/// A value for each rendition.
public struct PerRendition<Value> {
  private var values: [Value]

  public init(_ value: (Rendition) -> Value) {
    values = Rendition.allCases.map(value)
  }

  public subscript(rendition: Rendition) -> Value {
    get { values[rendition.rawValue] }
    set { values[rendition.rawValue] = newValue }
  }
}

extension PerRendition: Sendable where Value: Sendable {}
extension PerRendition: Equatable where Value: Equatable {}
