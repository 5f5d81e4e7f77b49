internal import Control
internal import Wire

/// How well a viewer's path carries the step that it is on, and how long it keeps that with less than it needs.
enum PictureSupply {
  /// As much as the step needs; nothing of sound alone.
  case enough
  /// The middle rendition fits, but without the reserve.
  case withoutReserve(since: Instant)
  /// It came to the smallest rendition because of a fall.
  case fallen
  /// Less than the smallest rendition needs; whether it has never had enough for it since a fall.
  case short(since: Instant, isFall: Bool)
  /// It gets stills. When there was last room for one, and since when there is less than they need.
  case stills(lastRoom: Instant? = nil, shortSince: Instant? = nil)

  enum Tuning {
    /// A late burst lowers an estimate for as long: the lack of a reserve does not cost the middle rendition meanwhile.
    static let reservePatience = Duration.seconds(1)
    /// With more than half of what the smallest rendition needs: while a queue drains, as after its key frame, the estimate is
    /// low for a moment.
    static let patience = Duration.seconds(3)
    /// The same for who comes to it because of a fall, as long as the first queue takes to drain: where the path then turns out
    /// to carry stills alone, what was sent meanwhile stands before them.
    static let fallPatience = Duration.milliseconds(1500)
    /// The same for stills, which come only every few seconds.
    static let stillsPatience = Duration.seconds(5)
  }

  enum Room { case now, soon, never }

  private var isFall: Bool {
    switch self {
    case .fallen, .short(_, isFall: true): true
    case .enough, .withoutReserve, .short, .stills: false
    }
  }

  private var shortSince: Instant? {
    switch self {
    case .short(let since, _): since
    case .stills(_, let since): since
    case .enough, .withoutReserve, .fallen: nil
    }
  }

  /// There was room for a still since it came to that step.
  var hasHadRoom: Bool { if case .stills(.some, _) = self { true } else { false } }

  /// Whether only the reserve is lacking, for a moment.
  mutating func lacksReserveBriefly(_ isLacking: Bool, now: Instant) -> Bool {
    guard isLacking else {
      self = .enough
      return false
    }
    if case .withoutReserve(let since) = self { return now - since < Tuning.reservePatience }
    self = .withoutReserve(since: now)
    return true
  }

  /// Whether there is too little for the smallest rendition only for a moment so far, and not much too little.
  ///
  /// - Parameter isAbove: it comes from a larger one.
  mutating func isShortBriefly(
    _ isShort: Bool, isAbove: Bool, estimateKbps: Int, neededKbps: Int, now: Instant
  ) -> Bool {
    guard isShort else {
      self = .enough
      return false
    }
    let since = shortSince ?? now
    let isFall = isAbove || isFall
    self = .short(since: since, isFall: isFall)
    return estimateKbps * 2 >= neededKbps && now - since < (isFall ? Tuning.fallPatience : Tuning.patience)
  }

  /// Each still, large as it is for such a path, lowers the estimate for a moment. The next one waits until that is over, and
  /// for moving pictures that are near: it would put them off. Never for long: the viewer was promised stills.
  ///
  /// - Parameter rise: when moving pictures are due; nil when there is no surplus for them.
  mutating func roomForStill(estimateKbps: Int, neededKbps: Int, rise: Instant?, now: Instant) -> Room {
    let lastRoom: Instant? = if case .stills(let last, _) = self { last } else { nil }
    guard estimateKbps < neededKbps else {
      self = .stills(lastRoom: lastRoom)
      guard let lastRoom, let rise else { return .now }
      return rise - lastRoom <= Tuning.stillsPatience ? .soon : .now
    }
    let since = shortSince ?? now
    self = .stills(lastRoom: lastRoom, shortSince: since)
    return estimateKbps * 2 >= neededKbps && now - since < Tuning.stillsPatience ? .soon : .never
  }

  /// The viewer has changed to this step.
  mutating func move(to step: PictureStep) {
    switch step {
    case .low: self = isFall ? .fallen : .enough
    case .stills: self = .stills()
    case .soundAlone, .middle, .high: self = .enough
    }
  }

  /// A still may be sent now.
  mutating func useRoom(now: Instant) { self = .stills(lastRoom: now, shortSince: shortSince) }
}
