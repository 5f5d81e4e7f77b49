/// The congestion window in bytes of chunks. RFC 9260 section 7.2.
struct CongestionControl: Sendable {
  private(set) var window: Int
  private(set) var slowStartThreshold: Int
  private var partialBytesAcked = 0
  private let segment: Int
  /// More than this is never queued, so a larger window would only be a burst waiting to happen.
  private let limit: Int

  init(segment: Int, limit: Int) {
    self.segment = segment
    self.limit = max(limit, 4 * segment)
    // Section 7.2.1.
    window = min(4 * segment, max(2 * segment, 4404))
    slowStartThreshold = self.limit
  }

  /// The cumulative TSN advanced by `bytes`. `wasFull`: the window kept us from sending more.
  mutating func acknowledged(bytes: Int, wasFull: Bool, isAllAcknowledged: Bool) {
    if window <= slowStartThreshold {
      // Section 7.2.1.
      if wasFull { window = min(window + min(bytes, segment), limit) }
    } else {
      // Section 7.2.2.
      partialBytesAcked += bytes
      if partialBytesAcked >= window {
        if wasFull {
          partialBytesAcked -= window
          window = min(window + segment, limit)
        } else {
          partialBytesAcked = window
        }
      }
    }
    if isAllAcknowledged { partialBytesAcked = 0 }
  }

  /// Section 7.2.3, on fast retransmit.
  mutating func lossDetected() {
    slowStartThreshold = max(window / 2, 4 * segment)
    window = slowStartThreshold
    partialBytesAcked = 0
  }

  /// Section 7.2.3, when T3-rtx expires.
  mutating func timedOut() {
    slowStartThreshold = max(window / 2, 4 * segment)
    window = segment
    partialBytesAcked = 0
  }

  /// Section 7.2.1: measurements from before a pause say less about the path after it.
  mutating func idled() {
    window = max(window / 2, min(window, 4 * segment))
  }
}
