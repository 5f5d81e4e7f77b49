import RTP
import Wire

// Requests to the sender, and feedback about its packets.
extension RTPReceiver {
  /// Requests the packets and key frames of one stream that are due.
  mutating func requestWhatIsMissing(stream index: Int, now: Instant) {
    // Before the first packet and after a BYE, there is no SSRC to send requests to.
    guard let mediaSSRC = streams[index].primary?.ssrc else { return }
    let isReducedSize = streams[index].configuration.reducedSizeRTCP
    requestKeyFrame(stream: index, mediaSSRC: mediaSSRC, now: now)
    let lost = streams[index].nacks.takeDue(now: now)
    guard !lost.isEmpty else { return }
    streams[index].counters.nackCount += 1
    let nack = RTCPNack(senderSSRC: configuration.senderSSRC, mediaSSRC: mediaSSRC, lost: lost)
    queue(.nack(nack), isReducedSize: isReducedSize)
  }

  private mutating func requestKeyFrame(stream index: Int, mediaSSRC: UInt32, now: Instant) {
    let isDue = streams[index].takeKeyFrameRequest(now: now)
    guard isDue else { return }
    let stream = streams[index].configuration
    if stream.supportsPLI {
      streams[index].counters.pliCount += 1
      let indication = RTCPPictureLossIndication(senderSSRC: configuration.senderSSRC, mediaSSRC: mediaSSRC)
      queue(.pictureLossIndication(indication), isReducedSize: stream.reducedSizeRTCP)
    } else if stream.supportsFIR {
      streams[index].counters.firCount += 1
      // Each FIR is a new command: it is sent only after the last one had time to be answered.
      let entry = RTCPFullIntraRequest.Entry(ssrc: mediaSSRC, sequenceNumber: streams[index].fullIntraRequests)
      streams[index].fullIntraRequests &+= 1
      let request = RTCPFullIntraRequest(senderSSRC: configuration.senderSSRC, entries: [entry])
      queue(.fullIntraRequest(request), isReducedSize: stream.reducedSizeRTCP)
    }
  }

  mutating func queue(_ packet: RTCPPacket, isReducedSize: Bool) {
    if isReducedSize { reducedSizeFeedback.append(packet) } else { compoundFeedback.append(packet) }
  }

  /// Sends the feedback collected in one call.
  mutating func flushFeedback() {
    if !reducedSizeFeedback.isEmpty {
      let packets = reducedSizeFeedback
      reducedSizeFeedback.removeAll(keepingCapacity: true)
      send(packets, behind: [])
    }
    if !compoundFeedback.isEmpty {
      let packets = compoundFeedback
      compoundFeedback.removeAll(keepingCapacity: true)
      // RFC 3550 section 6.1: a compound packet starts with a report, even an empty one, and contains a CNAME. Report
      // blocks are left to the regular reports, so that each covers a whole interval.
      send(packets, behind: [.receiverReport(RTCPReceiverReport(ssrc: configuration.senderSSRC)), description])
    }
  }

  /// Puts as many packets into each datagram as fit.
  private mutating func send(_ packets: [RTCPPacket], behind head: [RTCPPacket]) {
    let start = head.isEmpty ? [] : RTCPPacket.write(compound: head)
    var datagram = start
    for packet in packets {
      let bytes = RTCPPacket.write(compound: [packet])
      if datagram.count > start.count, datagram.count + bytes.count > Self.maximumDatagram {
        outputs.append(.rtcp(datagram))
        datagram = start
      }
      datagram += bytes
    }
    outputs.append(.rtcp(datagram))
  }

  /// With the SRTCP index and tag and all headers, this passes any path.
  private static let maximumDatagram = 1150

  var description: RTCPPacket {
    .sourceDescription(
      RTCPSourceDescription(chunks: [.init(ssrc: configuration.senderSSRC, cname: configuration.cname)]))
  }
}

extension ReceiveStream {
  mutating func takeKeyFrameRequest(now: Instant) -> Bool {
    video?.takeKeyFrameRequest(nacks: &nacks, now: now) ?? false
  }
}
