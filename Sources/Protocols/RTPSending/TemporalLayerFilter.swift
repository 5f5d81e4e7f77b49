import RTP

/// Decides which temporal layers one viewer gets. Going down takes effect at once; going up waits for a frame that a
/// decoder can step up at (RFC 7741 section 4.2, Y bit) or for a key frame.
struct TemporalLayerFilter: Sendable {
  var maximum = Int.max {
    didSet { active = min(active, maximum) }
  }
  private var active = Int.max

  mutating func admits(layer: Int, isKeyFrame: Bool, firstPayload: [UInt8]?) -> Bool {
    if isKeyFrame { active = maximum }
    if layer <= active { return true }
    guard layer <= maximum, let firstPayload, Self.isSync(firstPayload) else { return false }
    active = layer
    return true
  }

  private static func isSync(_ payload: [UInt8]) -> Bool {
    var rest = payload[...]
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &rest) else { return false }
    return descriptor.temporalLayer?.isSync == true
  }
}
