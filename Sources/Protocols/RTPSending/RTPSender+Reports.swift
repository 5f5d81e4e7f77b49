import RTP
import Wire

// Reports to the peer about our streams, and to the owner about the peer.
extension RTPSender {
  mutating func queueReports(dueBy limit: Instant, now: Instant) {
    for index in streams.indices {
      guard let due = streams[index].nextReport, due <= limit else { continue }
      queueReport(stream: index, now: now)
    }
  }

  mutating func queueReport(stream index: Int, now: Instant) {
    // RFC 3550 section 6.2: 0.5 to 1.5 times the interval, so that peers do not synchronize.
    let factor = 0.5 + Double(random.next() >> 11) / Double(1 << 53)
    streams[index].nextReport =
      now + .nanoseconds(Int64(saturating: Double(configuration.reportInterval.nanoseconds) * factor))
    guard let report = streams[index].makeReport(wallClock: wallClock, now: now) else { return }
    // RFC 3550 section 6.1: every compound packet contains a CNAME. RFC 5506 allows omitting it only in reduced-size
    // packets; here receivers need it for audio/video sync.
    let description = RTCPSourceDescription(chunks: [
      .init(ssrc: report.ssrc, cname: streams[index].configuration.cname)
    ])
    var packets: [RTCPPacket] = [.senderReport(report), .sourceDescription(description)]
    let answers = referenceTimes.takeAnswers(now: now)
    if !answers.isEmpty { packets.append(.extendedReport(RTCPExtendedReport(ssrc: report.ssrc, answers: answers))) }
    outputs.append(.rtcp(RTCPPacket.write(compound: packets)))
  }

  mutating func queueGoodbye(now: Instant) {
    let started = streams.indices.filter { streams[$0].nextReport != nil }
    // BYE lists at most 31 sources; we send a handful.
    guard let first = started.first, let report = streams[first].makeReport(wallClock: wallClock, now: now) else {
      return
    }
    let chunks = started.map {
      RTCPSourceDescription.Chunk(ssrc: streams[$0].configuration.ssrc, cname: streams[$0].configuration.cname)
    }
    let sources = started.flatMap { [streams[$0].configuration.ssrc, streams[$0].configuration.rtx?.ssrc] }
    outputs.append(
      .rtcp(
        RTCPPacket.write(compound: [
          .senderReport(report), .sourceDescription(RTCPSourceDescription(chunks: chunks)),
          .goodbye(RTCPGoodbye(sources: sources.compactMap { $0 })),
        ])))
  }

  /// Estimated available bandwidth in kbit/s, for all streams together, including headers and retransmissions.
  public var targetKbps: Int { Int(saturating: estimator.target / 1000) }

  /// The same in bits per second: `availableOutgoingBitrate` of W3C webrtc-stats.
  public var availableOutgoingBitrate: Double { estimator.target }

  /// Announces changes of at least 3 % and those that reach a limit.
  mutating func announceTarget() {
    let target = targetKbps
    let isLimit = target == configuration.minimumBitrateKbps || target == configuration.maximumBitrateKbps
    let change = abs(target - announcedKbps)
    guard change > 0, isLimit || change * 33 >= announcedKbps else { return }
    announcedKbps = target
    outputs.append(.targetBitrateChanged(kbps: target))
  }

  /// A snapshot of all streams, in the order in which they were added.
  public func statistics() -> [RTPStreamStatistics] {
    streams.map { stream in
      var statistics = stream.statistics
      statistics.availableOutgoingBitrate = availableOutgoingBitrate
      statistics.latest = stream.clockPair.map { pair in
        let capture = Double(wallClock.unixNanoseconds(at: pair.captureTime)) / 1e6
        return RTPStreamStatistics.Latest(rtpTimestamp: pair.timestamp, captureTimestamp: capture)
      }
      return statistics
    }
  }

  /// How often the peer has asked for a key frame (PLI, FIR).
  public var keyFrameRequestsReceived: UInt64 {
    streams.reduce(0) { $0 &+ $1.statistics.pliCount &+ $1.statistics.firCount }
  }

  /// The sum over the streams of a kind; see `RTPStreamStatistics`.
  public func packetsReceivedByPeer(_ kind: RTPMediaKind) -> UInt64 {
    streams.reduce(0) { $1.configuration.kind == kind ? $0 &+ $1.statistics.packetsReceivedByPeer : $0 }
  }
}
