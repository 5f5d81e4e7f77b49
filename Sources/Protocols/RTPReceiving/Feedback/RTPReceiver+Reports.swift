import RTP
import Wire

// Receiver reports, from which the sender learns loss, jitter and its round-trip time. RFC 3550 section 6.4.2.
extension RTPReceiver {
  /// RFC 3550 section 6.2: the first report is sent sooner.
  mutating func scheduleFirstReport(now: Instant) {
    nextReport = now + randomInterval(of: configuration.reportInterval / 2)
  }

  mutating func queueDueReport(now: Instant) {
    guard let due = nextReport, now >= due else { return }
    nextReport = now + randomInterval(of: configuration.reportInterval)
    var blocks: [RTCPReportBlock] = []
    for index in streams.indices { blocks += streams[index].makeReportBlocks(now: now) }
    // RC is at most 31: further blocks need further reports.
    var reports: [RTCPPacket] = []
    repeat {
      reports.append(
        .receiverReport(RTCPReceiverReport(ssrc: configuration.senderSSRC, reportBlocks: Array(blocks.prefix(31)))))
      blocks.removeFirst(min(31, blocks.count))
    } while !blocks.isEmpty
    var packets = reports + [description]
    if streams.contains(where: \.configuration.supportsReferenceTime) {
      let time = referenceClock.takeTime(now: now)
      packets.append(
        .extendedReport(RTCPExtendedReport(ssrc: configuration.senderSSRC, receiverReferenceTime: time)))
    }
    outputs.append(.rtcp(RTCPPacket.write(compound: packets)))
  }

  /// 0.5 to 1.5 times `interval`, so that peers do not synchronize.
  private mutating func randomInterval(of interval: Duration) -> Duration {
    let factor = 0.5 + Double(random.next() >> 11) / Double(1 << 53)
    return max(.milliseconds(1), .nanoseconds(Int64(saturating: Double(interval.nanoseconds) * factor)))
  }
}
