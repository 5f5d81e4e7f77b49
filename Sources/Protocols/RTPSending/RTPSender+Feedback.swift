public import RTP
public import Wire

// RTCP from the peer about our streams. The peer is not trusted: work, retransmissions and requests are bounded here.
extension RTPSender {
  /// Handles parsed RTCP from the peer. Packets that refer to none of our streams are ignored.
  public mutating func handle(rtcp packets: [RTCPPacket], now: Instant) {
    guard !isStopped, !packets.isEmpty else { return }
    var lookups = Self.maximumLookups
    for packet in packets {
      switch packet {
      case .senderReport(let report):
        handle(blocks: report.reportBlocks, now: now)
      case .receiverReport(let report):
        handle(blocks: report.reportBlocks, now: now)
      case .nack(let nack):
        handle(nack: nack, lookups: &lookups, now: now)
      case .transportFeedback(let feedback):
        guard streams.contains(where: \.configuration.supportsTransportCC) else { break }
        feedbackPace.note(count: feedback.feedbackCount, now: now)
        handle(estimator.handle(feedback, now: now), lookups: &lookups, now: now)
      case .receiverEstimatedMaximumBitrate(let estimate):
        let concernsUs = streams.contains { stream in
          stream.configuration.supportsREMB && estimate.sources.contains(stream.configuration.ssrc)
        }
        guard concernsUs else { break }
        estimator.handleReceiverMaximum(
          bitsPerSecond: estimate.bitsPerSecond, fractionLost: recentLoss.fraction, now: now)
      case .pictureLossIndication(let indication):
        guard let index = index(of: indication.mediaSSRC), streams[index].configuration.supportsPLI else { break }
        streams[index].statistics.pliCount += 1
        requestKeyFrame(stream: index, now: now)
      case .fullIntraRequest(let request):
        handle(fullIntraRequest: request, now: now)
      case .extendedReport(let report):
        guard streams.contains(where: \.configuration.answersReferenceTime) else { break }
        referenceTimes.note(report, now: now)
      case .sourceDescription, .goodbye:
        break
      }
    }
    announceTarget()
  }

  /// Maximum sequence-number lookups per datagram; a full one could list 6000.
  private static let maximumLookups = 2048

  private mutating func handle(blocks: [RTCPReportBlock], now: Instant) {
    for block in blocks {
      guard let index = index(of: block.ssrc) else { continue }
      let fraction = Double(block.fractionLost) / 256
      streams[index].statistics.fractionLost = fraction
      streams[index].statistics.packetsLost = Int64(block.cumulativeLost)
      streams[index].statistics.jitter = Double(block.jitter) / Double(max(1, streams[index].configuration.clockRate))
      streams[index].noteRoundTrip(block, now: now)
      if let time = streams[index].roundTripTime { estimator.noteRoundTripTime(time) }
      let highest = block.extendedHighestSequenceNumber
      if let last = streams[index].lastExtendedSequenceNumber, highest.isAfter(serial: last) {
        // More than this in one interval is implausible.
        let expected = min(highest &- last, 4096)
        estimator.handleReport(fractionLost: fraction, expected: Double(expected), now: now)
        if !streams[index].configuration.supportsTransportCC {
          let total = Int(clamping: expected)
          noteLoss(lost: (total * Int(block.fractionLost) + 128) / 256, total: total, now: now)
        }
      }
      streams[index].noteArrivals(block)
      streams[index].lastExtendedSequenceNumber = highest
    }
  }

  private mutating func handle(nack: RTCPNack, lookups: inout Int, now: Instant) {
    guard let index = index(of: nack.mediaSSRC), streams[index].configuration.supportsNACK else { return }
    streams[index].statistics.nackCount += 1
    // A retransmission sent less than a round trip ago may still be in flight.
    let spacing = max(streams[index].roundTripTime ?? Self.unmeasuredRoundTripTime, .milliseconds(5))
    for item in nack.items {
      var mask = UInt32(item.followingLost) << 1 | 1
      while mask != 0 {
        guard lookups > 0 else { return }
        lookups -= 1
        let number = item.sequenceNumber &+ UInt16(mask.trailingZeroBitCount)
        mask &= mask - 1
        streams[index].cache.noteMissing(number, notSentSince: now - spacing)
        guard retransmit(number, stream: index, notSentSince: now - spacing, now: now) else { return }
      }
    }
  }

  static let unmeasuredRoundTripTime = Duration.milliseconds(50)

  private mutating func handle(fullIntraRequest request: RTCPFullIntraRequest, now: Instant) {
    for entry in request.entries {
      guard let index = index(of: entry.ssrc), streams[index].configuration.kind == .video else { continue }
      streams[index].statistics.firCount += 1
      // RFC 5104 section 4.3.1.2: the same number from the same sender is the same request.
      if let last = streams[index].lastFullIntraRequest, last == (request.senderSSRC, entry.sequenceNumber) { continue }
      streams[index].lastFullIntraRequest = (request.senderSSRC, entry.sequenceNumber)
      requestKeyFrame(stream: index, now: now)
    }
  }
}
