import RTP
import RTPSending
import TestSupport
import Testing
import Wire

@Suite struct SendingTests {
  @Test func aFrameLeavesAtOnceWithConsecutiveNumbersAndOneMarker() {
    var rig = Rig()
    rig.sendVideo(packets: 5, at: .milliseconds(100), isKeyFrame: true)
    #expect(rig.drain(at: .milliseconds(100)) == 5)
    let headers = rig.video.map(\.header)
    #expect(zip(headers, headers.dropFirst()).allSatisfy { $1.sequenceNumber == $0.sequenceNumber &+ 1 })
    #expect(headers.map(\.marker) == [false, false, false, false, true])
    #expect(Set(headers.map(\.timestamp)).count == 1)
    #expect(headers.allSatisfy { $0.payloadType == 96 })
    #expect(rig.video.map { Array($0.payload) } == (0..<5).map { [UInt8](repeating: UInt8($0), count: 1000) })
  }

  @Test func numbersAndTimestampsBeginAtRandom() {
    var starts: Set<UInt32> = []
    var numbers: Set<UInt16> = []
    for seed: UInt64 in 1...8 {
      var rig = Rig(seed: seed)
      rig.sendVideo(packets: 1, at: .zero)
      rig.drain(at: .zero)
      starts.insert(rig.video[0].header.timestamp)
      numbers.insert(rig.video[0].header.sequenceNumber)
    }
    #expect(starts.count == 8 && numbers.count > 6)
  }

  @Test func timestampsAdvanceWithTheMediaClockThroughItsWrap() {
    var rig = Rig()
    for (time, at) in [(UInt32.max - 959, 0), (0, 20), (960, 40)] {
      rig.sender.send(
        payloads: [[1]], ssrc: audioSSRC, mediaTime: time, captureTime: .milliseconds(at), marksLast: false,
        now: .milliseconds(at))
      rig.drain(at: .milliseconds(at))
    }
    let times = rig.audio.map(\.header.timestamp)
    #expect(times[1] &- times[0] == 960 && times[2] &- times[1] == 960)
  }

  @Test func extensionsAreStampedWhenAPacketLeaves() {
    var rig = Rig()
    let now = Instant.milliseconds(2500)
    rig.sendAudio(at: now)
    rig.sendVideo(packets: 2, at: now, isKeyFrame: true)
    rig.drain(at: now + .milliseconds(250))
    let audio = rig.audio[0].extensions(extensionIDs)
    #expect(audio.mid == "0")
    #expect(audio.playoutDelay == nil)
    // 2.75 s in 6.18 fixed point.
    #expect(audio.absoluteSendTime == 0xb_0000)
    let video = rig.video.map { $0.extensions(extensionIDs) }
    #expect(video[0].mid == "1" && video[0].playoutDelay == PlayoutDelay(minimum: 0, maximum: 40))
    // Capture time, not sending time: 1700000000 + 2208988800 seconds, and 2.5.
    #expect(video[0].absoluteCaptureTime?.ntpTime == UInt64(3_908_988_802) << 32 | 0x8000_0000)
    #expect(video[1].absoluteCaptureTime == nil)
    let numbers = ([audio] + video).compactMap(\.transportSequenceNumber)
    #expect(numbers.count == 3 && numbers[1] == numbers[0] &+ 1 && numbers[2] == numbers[1] &+ 1)
  }

  /// A rig whose first packet meets `isWanted`, so that a wrap is near.
  private func rig(where isWanted: (RTPPacket) -> Bool) -> Rig? {
    for seed: UInt64 in 1...2000 {
      var rig = Rig(seed: seed)
      rig.sendVideo(packets: 1, size: 1, at: .zero)
      rig.drain(at: .zero)
      if isWanted(rig.video[0]) { return rig }
    }
    return nil
  }

  @Test func transportSequenceNumbersWrapOnTheirWay() throws {
    var rig = try #require(rig { ($0.extensions(extensionIDs).transportSequenceNumber ?? 0) > 65400 })
    for frame in 1...200 {
      rig.sendVideo(packets: 5, size: 1, at: .milliseconds(frame * 5))
      rig.drain(at: .milliseconds(frame * 5))
    }
    let numbers = rig.video.compactMap { $0.extensions(extensionIDs).transportSequenceNumber }
    #expect(numbers.count == 1001 && numbers.last! < 1001)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
  }

  @Test func sequenceNumbersWrapOnTheirWay() throws {
    var rig = try #require(rig { $0.header.sequenceNumber > 0x7e00 })
    var last = rig.video[0].header.sequenceNumber
    var wraps = 0
    for frame in 1...3400 {
      let now = Instant.milliseconds(frame * 4)
      rig.sendVideo(payloads: Array(repeating: [0], count: 10), at: now)
      while case .rtp(let bytes)? = rig.sender.poll(now: now) {
        let number = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        #expect(number == last &+ 1)
        if number < last { wraps += 1 }
        last = number
      }
    }
    #expect(wraps == 1)
  }

  @Test func aKeyFrameLeavesInBurstsOnAHealthyPath() {
    var rig = Rig()
    rig.sendVideo(packets: 52, at: .milliseconds(10), isKeyFrame: true)
    #expect(rig.drain(at: .milliseconds(10)) == 16)
    #expect(rig.sender.nextDeadline == .milliseconds(14))
    rig.run(until: .milliseconds(30))
    var times: [Instant: Int] = [:]
    for packet in rig.packets { times[packet.at, default: 0] += 1 }
    #expect(times.sorted { $0.key < $1.key }.map(\.value) == [16, 16, 16, 4])
    #expect(rig.packets.last!.at == .milliseconds(22))
  }

  @Test func soundOvertakesPictureThatWaits() {
    var rig = Rig()
    rig.sendVideo(packets: 30, at: .zero)
    rig.drain(at: .zero)
    rig.sendAudio(at: .milliseconds(1))
    #expect(rig.drain(at: .milliseconds(1)) == 1)
    #expect(rig.packets.last!.packet.header.ssrc == audioSSRC)
  }

  @Test func aCongestedPathIsPacedAtAMultipleOfTheEstimate() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 600_000))
    call.run(for: .seconds(3))
    var rig = call.rig
    let start = call.now + .milliseconds(200)
    rig.run(until: start)
    rig.packets.removeAll()
    let target = Double(rig.sender.targetKbps)
    rig.sendVideo(packets: 40, at: start, isKeyFrame: true)
    rig.drain(at: start)
    #expect(rig.packets.count < 5)
    rig.run(until: start + .milliseconds(900))
    #expect(rig.video.count == 40)
    let seconds = (rig.packets.last!.at - start).inSeconds
    let rate = Double(rig.packets.reduce(0) { $0 + $1.bytes.count }) * 8 / seconds / 1000
    #expect(rate > target * 2 && rate < target * 3.2)
  }

  @Test func videoThatWaitsTooLongIsGivenUpForAKeyFrame() {
    var rig = Rig()
    rig.sendVideo(packets: 60, at: .zero)
    rig.drain(at: .zero)
    rig.sendVideo(packets: 20, at: .milliseconds(1))
    let sent = rig.video.count
    // Nobody polled for half a second.
    rig.drain(at: .milliseconds(500))
    #expect(rig.video.count == sent)
    #expect(rig.keyFrameRequests == [.milliseconds(500)])
    // Nothing decodes until the key frame, so nothing is sent.
    rig.sendVideo(at: .milliseconds(510))
    #expect(rig.drain(at: .milliseconds(510)) == 0)
    // It is asked for again while it does not come.
    rig.run(until: .milliseconds(1600))
    #expect(rig.keyFrameRequests == [.milliseconds(500), .milliseconds(1500)])
    rig.sendVideo(at: .milliseconds(1600), isKeyFrame: true)
    #expect(rig.drain(at: .milliseconds(1600)) == 5)
    rig.run(until: .milliseconds(4000))
    #expect(rig.keyFrameRequests.count == 2)
    // What was given up had no numbers yet.
    let numbers = rig.video.map(\.header.sequenceNumber)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    #expect(rig.sender.statistics()[1].framesDropped == 3)
  }

  @Test func givingUpStopsAtAQueuedKeyFrame() {
    var rig = Rig()
    rig.sendVideo(packets: 36, at: .zero)
    rig.drain(at: .zero)
    rig.sendVideo(packets: 5, at: .milliseconds(10), isKeyFrame: true)
    rig.sendVideo(packets: 5, at: .milliseconds(20))
    rig.drain(at: .milliseconds(450))
    #expect(rig.keyFrameRequests.isEmpty)
    let stamps = Set(rig.packets.filter { $0.at == .milliseconds(450) }.map(\.packet.header.timestamp))
    #expect(stamps.count == 2)
    // The first burst, and both frames that came later.
    #expect(rig.video.count == 16 + 10)
  }

  @Test(arguments: [(500, true), (1800, true), (2000, false)])
  func aKeyFrameOnItsWayIsNeverGivenUpAndWhatIsBehindItWaits(milliseconds: Int, isPatient: Bool) {
    var rig = Rig()
    rig.sendVideo(packets: 30, at: .zero, isKeyFrame: true)
    rig.drain(at: .zero)
    rig.sendVideo(packets: 5, at: .milliseconds(33))
    rig.drain(at: .milliseconds(milliseconds))
    rig.run(until: .milliseconds(milliseconds + 20))
    #expect(rig.video.count == (isPatient ? 35 : 30))
    #expect(rig.keyFrameRequests == (isPatient ? [] : [.milliseconds(milliseconds)]))
  }

  @Test func feedbackAndFramesForUnknownStreamsAreIgnored() {
    var rig = Rig()
    rig.sender.send(
      payloads: [[1]], ssrc: 77, mediaTime: 0, captureTime: .zero, marksLast: true, now: .zero)
    rig.sender.handle(
      rtcp: [
        .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: 1, mediaSSRC: 77)),
        .fullIntraRequest(RTCPFullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 77, sequenceNumber: 1)])),
        .nack(RTCPNack(senderSSRC: 1, mediaSSRC: 77, lost: [1])),
        .receiverReport(RTCPReceiverReport(ssrc: 1, reportBlocks: [RTCPReportBlock(ssrc: 77, fractionLost: 255)])),
        .goodbye(RTCPGoodbye(sources: [77])),
      ], now: .zero)
    #expect(rig.drain(at: .zero) == 0)
    #expect(rig.keyFrameRequests.isEmpty)
    #expect(rig.sender.nextDeadline == nil)
  }

  @Test func timeoutsBeforeTheirTimeChangeNothing() {
    var rig = Rig()
    rig.sendVideo(at: .zero)
    rig.drain(at: .zero)
    let before = rig.sender.nextDeadline
    for microsecond in 1...50 { rig.sender.handleTimeout(now: .zero + .microseconds(microsecond)) }
    #expect(rig.drain(at: .zero + .microseconds(50)) == 0)
    #expect(rig.sender.nextDeadline == before)
    #expect(rig.reports.count == 1)
  }
}
