import RTP
import Wire

// What is done about loss that transport-wide feedback reports. A NACK would name the same packets, but it is lost as
// often as they are, and libwebrtc repeats it only every 100 ms while it does not know the round-trip time
// (nack_requester.cc).
extension RTPSender {
  /// Above this loss, each retransmission is sent twice; above the other, three times: where a retransmission of a
  /// retransmission is needed, it often comes too late. At 2 %, where the viewer waits less, one in fifty is, which is one
  /// every ten seconds; copies cost as much of the rate as is lost.
  private static let doubledAbove = 0.01
  private static let tripledAbove = 0.15
  /// Above this loss, what lost feedback would have reported is sent again without it.
  private static let feedbackLostAbove = 0.08
  /// The viewer waits for what was missing for so long: its copies are as urgent as itself.
  private static let lateAfter = Duration.milliseconds(150)
  /// Between two copies: longer than most bursts of loss.
  private static let copyInterval = Duration.milliseconds(10)
  /// From sending a packet to knowing that it is lost, on top of the round-trip time.
  private static let longestRepair = Duration.milliseconds(300)
  /// What was sent for so long and is mentioned by no feedback counts as lost.
  private static let longestSilence = Duration.milliseconds(500)
  private static let headerEstimate = 40
  /// Below this target sound has no room for copies, kbit/s.
  private static let copiesAboveKbps = 300
  private static let twoCopiesAbove = 0.05

  /// Counts what was lost, and decides how long the viewer should wait for retransmissions.
  mutating func noteLoss(lost: Int, total: Int, now: Instant) {
    let before = recentLoss.patience
    recentLoss.add(lost: lost, total: total, now: now)
    guard recentLoss.patience != before else { return }
    // Fixed here: each change is a jerk in the picture.
    playoutDelayForLoss =
      switch recentLoss.patience {
      case .none: nil
      case .some: .awaitingRetransmission(roundTrip: leastRoundTripTime ?? Self.unmeasuredRoundTripTime)
      case .long: .patient
      }
  }

  /// How many earlier packets each audio packet repeats, where the peer accepts RED.
  var soundCopies: Int {
    guard estimator.target >= Double(Self.copiesAboveKbps) * 1000 else { return 0 }
    return recentLoss.isLossy(above: Self.twoCopiesAbove) ? 2 : 1
  }

  mutating func handle(_ result: TransportFeedbackResult, lookups: inout Int, now: Instant) {
    let total = result.acknowledged.count + result.lost - result.recovered
    noteLoss(lost: result.lost - result.recovered, total: total, now: now)
    reordering.add(lost: result.lost, recovered: result.recovered)
    noteFates(result)
    missingFeedbacks = 0
    missingFeedbackDue =
      reordering.isRare && recentLoss.isLossy(above: Self.feedbackLostAbove) ? feedbackPace.missing(1) : nil
    if result.unreported > Self.longestSilence {
      // Several feedback packets in a row were lost: so were ours, as far as anybody knows.
      for index in streams.indices where streams[index].configuration.rtx != nil {
        replaceByKeyFrame(stream: index, sentAt: now, now: now)
      }
    }
    guard reordering.isRare else { return }
    let left = unrepaired.filter { now - $0.sentAt < Self.longestRepair }
    for packet in unrepaired where packet.isReported && now - packet.sentAt >= Self.longestRepair {
      giveUp(packet, now: now)
    }
    unrepaired = []
    for packet in result.lostPackets {
      guard lookups > 0 else { return }
      lookups -= 1
      guard let media = repairable(packet), !isCoveredByKeyFrame(packet.sentAt, stream: media.stream) else { continue }
      if isLate(packet, stream: media.stream, now: now) {
        replaceByKeyFrame(stream: media.stream, sentAt: packet.sentAt, now: now)
      } else if !retransmit(media.sequenceNumber, stream: media.stream, notSentSince: packet.sentAt, now: now) {
        unrepaired.append(packet)
      }
    }
    unrepaired += repairUnreported(left + result.unreportedPackets, lookups: &lookups, now: now)
  }

  /// Passes on to the caches what feedback says of each copy.
  private mutating func noteFates(_ result: TransportFeedbackResult) {
    for packet in result.acknowledged {
      guard let media = packet.media, streams.indices.contains(media.stream) else { continue }
      streams[media.stream].cache.noteArrived(media.sequenceNumber)
    }
    for packet in result.lostPackets {
      guard let media = packet.media, streams.indices.contains(media.stream) else { continue }
      streams[media.stream].cache.noteLost(media.sequenceNumber)
    }
  }

  /// Where much is lost, the feedback and the NACKs of many a packet are lost as well, one after the other: nobody waits
  /// until one comes through. A full queue loses no feedback, so this is done on a congested path as well. Gives back what is
  /// to be looked at again.
  private mutating func repairUnreported(_ packets: [LostPacket], lookups: inout Int, now: Instant) -> [LostPacket] {
    // The next feedback may show that much is lost.
    guard recentLoss.isLossy(above: Self.feedbackLostAbove) else { return packets }
    var left: [LostPacket] = []
    for packet in packets {
      guard lookups > 0 else { break }
      lookups -= 1
      guard let media = repairable(packet), !isCoveredByKeyFrame(packet.sentAt, stream: media.stream) else { continue }
      if queue(media, notSentSince: packet.sentAt, now: now) == .noBudget { left.append(packet) }
    }
    return left
  }

  /// Where much is lost, feedback is often missing. What it would have reported is sent again before the next one says so,
  /// which may be missing as well. Where nothing comes for long, the path is dead rather than lossy.
  mutating func repairWithoutFeedback(now: Instant) {
    guard let due = missingFeedbackDue, now >= due else { return }
    missingFeedbackDue = nil
    missingFeedbacks += 1
    guard let heard = feedbackPace.heardAt, now - heard < Self.longestSilence, !estimator.isCongested(at: now),
      let expected = feedbackPace.expected(missingFeedbacks)
    else { return }
    let roundTrip = (leastRoundTripTime ?? Self.unmeasuredRoundTripTime) + (estimator.standingQueue ?? .zero)
    let unanswered = estimator.history.unansweredPackets(sentBefore: expected - roundTrip)
    var lookups = unanswered.count
    // What there is no budget for is unanswered the next time as well.
    _ = repairUnreported(unanswered, lookups: &lookups, now: now)
    missingFeedbackDue = feedbackPace.missing(missingFeedbacks + 1)
  }

  /// There was no budget for it in time.
  private mutating func giveUp(_ packet: LostPacket, now: Instant) {
    guard let media = repairable(packet), availability(of: media, notSentSince: packet.sentAt, now: now) != .notNeeded
    else {
      return
    }
    replaceByKeyFrame(stream: media.stream, sentAt: packet.sentAt, now: now)
  }

  /// What cannot be sent again is replaced by a key frame, once for all that was sent before it. The viewer need not ask: its
  /// request may be lost, too, and libwebrtc's receiver asks only after three seconds without a picture.
  private mutating func replaceByKeyFrame(stream: Int, sentAt: Instant, now: Instant) {
    guard streams[stream].configuration.kind == .video, !isCoveredByKeyFrame(sentAt, stream: stream) else { return }
    streams[stream].coveredByKeyFrameUntil = now
    requestKeyFrame(stream: stream, now: now)
  }

  /// A key frame was requested since then, or sent.
  private func isCoveredByKeyFrame(_ sentAt: Instant, stream: Int) -> Bool {
    streams[stream].coveredByKeyFrameUntil.map { sentAt < $0 } ?? false
  }

  private func repairable(_ packet: LostPacket) -> MediaReference? {
    guard let media = packet.media, streams.indices.contains(media.stream),
      streams[media.stream].configuration.rtx != nil
    else { return nil }
    return media
  }

  /// What was lost so long ago that no viewer waits for it.
  private func isLate(_ packet: LostPacket, stream: Int, now: Instant) -> Bool {
    now - packet.sentAt > Self.longestRepair + (streams[stream].cautiousRoundTripTime ?? Self.unmeasuredRoundTripTime)
  }

  /// Queues a packet for retransmission unless it was sent after `notSentSince`, is too old or was sent too often. False
  /// when there is no budget left.
  mutating func retransmit(_ number: UInt16, stream: Int, notSentSince: Instant, now: Instant) -> Bool {
    let media = MediaReference(stream: stream, sequenceNumber: number)
    switch queue(media, notSentSince: notSentSince, now: now) {
    case .noBudget: return false
    case .notNeeded: return true
    case .queued: break
    }
    // It was queued now, and is not counted yet.
    let isRepeated = streams[stream].cache.retransmissions(of: number) > 0
    let further = furtherCopies(isRepeated: isRepeated, now: now)
    if further > 0, streams[stream].configuration.rtx != nil {
      let isLate = streams[stream].cache.age(of: number, now: now) > Self.lateAfter
      copies.append(FurtherCopy(due: now + Self.copyInterval, media: media, left: further, isLate: isLate))
    }
    return true
  }

  private func availability(
    of media: MediaReference, notSentSince: Instant, now: Instant
  ) -> RetransmissionCache.Availability {
    streams[media.stream].cache.availability(
      of: media.sequenceNumber, now: now, maximumAge: configuration.retransmissionCacheAge, notSentSince: notSentSince,
      maximumCount: configuration.maximumRetransmissionsPerPacket)
  }

  private enum Queued { case queued, notNeeded, noBudget }

  private mutating func queue(
    _ media: MediaReference, notSentSince: Instant, isLate: Bool = false, now: Instant
  ) -> Queued {
    let bytes: Int
    switch availability(of: media, notSentSince: notSentSince, now: now) {
    case .available(let byteCount): bytes = byteCount
    case .notNeeded: return .notNeeded
    case .exhausted:
      let age = streams[media.stream].cache.age(of: media.sequenceNumber, now: now)
      replaceByKeyFrame(stream: media.stream, sentAt: now - age, now: now)
      return .notNeeded
    }
    let urgency = isLate ? .missing : streams[media.stream].cache.urgency(of: media.sequenceNumber)
    let isAffordable = retransmissionBudget.take(
      bytes + Self.headerEstimate, for: urgency, targetKbps: Int(saturating: estimator.repairTarget / 1000),
      now: now)
    guard isAffordable else { return .noBudget }
    streams[media.stream].cache.markQueued(media.sequenceNumber)
    retransmissionQueue.append((media.stream, media.sequenceNumber))
    return .queued
  }

  /// - Parameter isRepeated: an earlier retransmission was lost as well. Few are, and a picture has waited for it: it has a
  ///   copy however little is lost.
  private func furtherCopies(isRepeated: Bool, now: Instant) -> Int {
    // What a full queue loses is not saved by sending more.
    guard !estimator.isCongested(at: now), !estimator.lossBased.limitsRepair else { return 0 }
    if recentLoss.isLossy(above: Self.tripledAbove) { return 2 }
    return isRepeated || recentLoss.isLossy(above: Self.doubledAbove) ? 1 : 0
  }

  mutating func queueFurtherCopies(now: Instant) {
    while let copy = copies.first, copy.due <= now {
      _ = copies.popFirst()
      guard queue(copy.media, notSentSince: now, isLate: copy.isLate, now: now) == .queued, copy.left > 1 else {
        continue
      }
      copies.append(
        FurtherCopy(due: now + Self.copyInterval, media: copy.media, left: copy.left - 1, isLate: copy.isLate))
    }
  }
}

/// A retransmission that is sent once more, without knowing whether it is needed.
struct FurtherCopy: Sendable {
  var due: Instant
  var media: MediaReference
  /// Including this one.
  var left: Int
  /// The viewer has waited for it too long already.
  var isLate: Bool
}
