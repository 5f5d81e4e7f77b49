import RTP

/// Selects the temporal layers sent to one viewer. Switching down takes effect at once; switching up waits for a layer
/// sync frame (RFC 7741 section 4.2, Y bit) or a key frame.
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
