import Control

extension PictureDocument {
  /// Which picture is left, and why, in words; nil while it is the whole one.
  var shortfall: String? {
    guard let reason else { return nil }
    if reason == Self.relayData { return "the relay's data for tonight is used up: sound alone" }
    return PictureStep(rawValue: rendition).flatMap { rendition in
      switch rendition {
      case .high: nil
      case .middle: "weak connection: smaller picture"
      case .low: "weak connection: small picture"
      case .stills: "weak connection: a picture every few seconds"
      case .soundAlone: "weak connection: sound alone"
      }
    }
  }

  /// The picture moves.
  fileprivate var moves: Bool {
    switch PictureStep(rawValue: rendition) {
    case .stills, .soundAlone: false
    case .high, .middle, .low, nil: true
    }
  }
}

/// Says when a weak connection leaves no moving picture, and when it is back: once each, for whoever reads lines, not a status.
struct PictureShortfall {
  private var reported: String?

  /// - Parameter picture: of the last heartbeat; nil: it says nothing of it.
  mutating func note(_ picture: PictureDocument?) -> WatchNotice? {
    guard let picture else { return nil }
    let shortfall = picture.moves ? nil : picture.shortfall
    guard shortfall != reported else { return nil }
    defer { reported = shortfall }
    return shortfall.map { WatchNotice(.trouble, $0) } ?? WatchNotice(.information, "the picture moves again")
  }
}
