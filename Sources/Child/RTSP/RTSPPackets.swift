internal import RTP
internal import RTSP
internal import Wire

/// Makes the packets of one track for one player. RFC 3550.
struct RTSPPackets {
  private static let reportInterval: Duration = .seconds(5)

  let stream: RTSPStream
  /// Of the player: by it players know that picture and sound belong together.
  private let name: String
  private var sequence = UInt16.random(in: 0...0x7fff)
  private var octets: UInt32 = 0
  private(set) var count: UInt32 = 0
  private var reportedAt: Instant?

  init(_ stream: RTSPStream, name: String) {
    self.stream = stream
    self.name = name
  }

  /// One frame, or one packet of sound.
  mutating func media(_ payloads: [[UInt8]], timestamp: UInt32) -> [[UInt8]] {
    payloads.enumerated().map { index, payload in
      let header = RTPHeader(
        marker: stream.track.isPicture && index == payloads.count - 1, payloadType: stream.track.payloadType,
        sequenceNumber: sequence, timestamp: timestamp, ssrc: stream.track.ssrc)
      sequence &+= 1
      count &+= 1
      octets &+= UInt32(clamping: payload.count)
      return RTPPacket(header: header, payload: payload[...]).write()
    }
  }

  /// A sender report when one is due: with the first packet, so that players bring picture and sound together from it on.
  ///
  /// - Parameters:
  ///   - timestamp: of the media that were captured at `captureTime`.
  mutating func report(
    timestamp: UInt32, captureTime: Instant, wallClock: WallClockReference, now: Instant
  ) -> [UInt8]? {
    if let reportedAt, now - reportedAt < Self.reportInterval { return nil }
    reportedAt = now
    let ssrc = stream.track.ssrc
    let rate = Int64(stream.track.clockRate)
    let (seconds, rest) = (now - captureTime).nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let since = seconds &* rate &+ rest &* rate / 1_000_000_000
    let report = RTCPSenderReport(
      ssrc: ssrc, ntpTime: wallClock.ntpTime(at: now), rtpTimestamp: timestamp &+ UInt32(truncatingIfNeeded: since),
      packetCount: count, octetCount: octets)
    return RTCPPacket.write(compound: [
      .senderReport(report), .sourceDescription(.init(chunks: [.init(ssrc: ssrc, cname: name)])),
    ])
  }
}
