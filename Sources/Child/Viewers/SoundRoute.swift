internal import Frames
internal import PeerConnection
internal import Wire

/// Which of the microphone's encodings one listener is sent. Its path decides.
struct SoundRoute {
  /// What the path calls for.
  private(set) var target = SoundRendition.full
  private(set) var current = SoundRendition.full
  private var readySince: Instant?

  /// kbit/s. Below it the full rendition leaves nothing for the picture, and is itself in danger.
  private static let narrowBelow = 100
  private static let fullFrom = 140
  /// How long there has to be enough for the full one.
  private static let patience = Duration.seconds(5)
  /// Opus at 16 kbit/s, and the headers of 17 packets a second.
  private static let narrowKbps = 25
  /// Opus at 40 kbit/s, and the headers of 50 packets a second.
  private static let fullKbps = 63
  /// Above 300 kbit/s each packet repeats the one before (RFC 2198), as the sender has it.
  private static let repeatedFrom = 300
  private static let repeatedKbps = SendingLimits.soundWithCopiesKbps

  /// What the listener wants to be sent at most, kbit/s; nil: any rate.
  private let limitKbps: Int?

  init(limitKbps: Int? = nil) {
    self.limitKbps = limitKbps
    if !takesFull { (target, current) = (.narrow, .narrow) }
  }

  private var takesFull: Bool { limitKbps.map { $0 >= Self.fullKbps } ?? true }

  /// Somebody needs the narrow rendition, until it is replaced.
  var needsNarrow: Bool { target == .narrow || current == .narrow }

  /// - Parameter estimateKbps: nil before the path has been measured.
  mutating func follow(estimateKbps: Int?, now: Instant) {
    guard let estimateKbps, takesFull else { return }
    if estimateKbps < Self.narrowBelow {
      target = .narrow
      readySince = nil
    } else if target == .narrow {
      guard estimateKbps >= Self.fullFrom else {
        readySince = nil
        return
      }
      let since = readySince ?? now
      readySince = since
      if now - since >= Self.patience { target = .full }
    }
  }

  /// What sound takes of the path, kbit/s, at this estimate.
  func kbps(ofEstimate estimateKbps: Int) -> Int {
    if target == .narrow { return Self.narrowKbps }
    let isRepeated = estimateKbps >= Self.repeatedFrom && limitKbps.map { $0 >= Self.repeatedKbps } ?? true
    return isRepeated ? Self.repeatedKbps : Self.fullKbps
  }

  /// The route follows the next packet. Returns whether it is sent: each moment in one rendition.
  mutating func accept(_ packet: EncodedAudioPacket) -> Bool {
    if packet.isJunction { current = target }
    return packet.rendition == current
  }
}
