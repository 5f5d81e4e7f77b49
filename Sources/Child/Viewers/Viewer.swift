internal import Pairing
internal import Server
internal import Wire

/// One parent that watches, from its WHEP request to its end.
struct Viewer: Sendable {
  let peer: PeerID
  /// What signalling calls it: the WHEP resource, or the paired session.
  let session: String
  /// Who: the token's or the pair record's name.
  let name: String
  /// The pair record's id; nil with a token.
  let pair: String?
  let permissions: Permissions
  /// Which of the cameras.
  var camera: Int
  /// What it gets, as negotiated: neither for one that is just here to give an order.
  let seesPicture: Bool
  let hearsSound: Bool
  let since: Instant
  /// The connection is up.
  var isConnected = false
  /// Its decoder has nothing to begin from yet; anything but a key frame would be wasted on it.
  var awaitsKeyFrame = true
  /// What its path is estimated to carry.
  var estimateKbps: Int?
  /// The `control` data channel, once open.
  var controlChannel: UInt16?

  /// It gets picture or sound now, or until just now.
  var isWatching: Bool { isConnected && (seesPicture || hearsSound) }
}

/// How viewers with different paths share one encoder.
///
/// The encoder runs at the rate of the slowest viewer that has at least half of what the fastest has. Slower ones get
/// the base layer alone, which carries 75 % of the rate; they must not make the picture worse for everybody else.
struct RateAllocation: Equatable {
  var encoderKbps: Int
  /// Whether a viewer with this estimate gets both temporal layers.
  func takesAllLayers(estimateKbps: Int?) -> Bool {
    guard let estimateKbps else { return true }
    return estimateKbps + estimateKbps / 8 >= encoderKbps
  }

  /// - Parameters:
  ///   - estimatesKbps: of the connected viewers; empty: the start value stays.
  ///   - range: what the configuration allows.
  init(estimatesKbps: [Int], range: ClosedRange<Int>, startKbps: Int) {
    guard let best = estimatesKbps.max() else {
      encoderKbps = min(max(startKbps, range.lowerBound), range.upperBound)
      return
    }
    let slowest = estimatesKbps.filter { $0 * 2 >= best }.min() ?? best
    // Sound, feedback and headers need their share of the path.
    let forVideo = slowest - min(96, slowest / 5)
    encoderKbps = min(max(forVideo, range.lowerBound), range.upperBound)
  }
}
