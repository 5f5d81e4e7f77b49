import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

/// When a sender stops by itself, and when it does not.
@Suite struct CircuitBreakerTests {
  /// Sound and picture to a peer that reports each second what of them arrives.
  private struct Room {
    var rig = Rig(transportCC: false)
    var now = Instant.zero
    var reportsSound = true
    var reportsPicture = true
    /// Its reports say that nothing more has come.
    var pictureArrives = true
    private var seen: [UInt32: UInt32] = [:]

    mutating func run(for duration: Duration) {
      let end = now + duration
      while now < end {
        if let deadline = rig.sender.nextDeadline, deadline <= now { rig.sender.handleTimeout(now: now) }
        if now.nanoseconds % 20_000_000 == 0 { rig.sendAudio(at: now) }
        if now.nanoseconds % 100_000_000 == 0 {
          let isKeyFrame = now == .zero || rig.keyFrameRequests.last.map { now - $0 <= .milliseconds(100) } ?? false
          rig.sendVideo(packets: 2, at: now, isKeyFrame: isKeyFrame)
        }
        rig.drain(at: now)
        if now.nanoseconds % 1_000_000_000 == 500_000_000 { report() }
        now += .milliseconds(10)
      }
    }

    mutating func report() {
      var blocks: [RTCPReportBlock] = []
      for (ssrc, isReported, arrives) in [
        (audioSSRC, reportsSound, true), (videoSSRC, reportsPicture, pictureArrives),
      ] where isReported {
        if arrives {
          seen[ssrc] = rig.packets.last { $0.packet.header.ssrc == ssrc }.map {
            UInt32($0.packet.header.sequenceNumber)
          }
        }
        blocks.append(RTCPReportBlock(ssrc: ssrc, extendedHighestSequenceNumber: seen[ssrc] ?? 0))
      }
      guard reportsSound || reportsPicture else { return }
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: blocks))], now: now)
      rig.drain(at: now)
    }

    /// Packets of a stream sent between two seconds.
    func count(_ ssrc: UInt32, from: Int, to: Int) -> Int {
      rig.packets.count {
        $0.packet.header.ssrc == ssrc && $0.at >= .zero + .seconds(from) && $0.at < .zero + .seconds(to)
      }
    }

    var pauses: [String] {
      rig.pauses.map { pause in
        let second = Int((pause.at - .zero).inSeconds)
        return "\(second) \(pause.ssrc == audioSSRC ? "sound" : "picture") \(pause.isPaused ? "off" : "on")"
      }
    }
  }

  @Test func whatArrivesIsNeverPaused() {
    var room = Room()
    room.run(for: .seconds(90))
    #expect(room.pauses == [])
  }

  @Test func transportFeedbackAloneShowsThatItArrives() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 5_000_000))
    call.run(for: .seconds(40))
    #expect(call.rig.pauses.isEmpty)
  }

  @Test func aPeerThatReportsNothingAtAllIsNotSentAnythingButATryNowAndThen() {
    var room = Room()
    (room.reportsSound, room.reportsPicture) = (false, false)
    room.run(for: .seconds(60))
    #expect(
      room.pauses.filter { $0.contains("sound") }
        == ["15 sound off", "25 sound on", "33 sound off", "53 sound on"])
    #expect(
      room.pauses.filter { $0.contains("picture") }.map { $0.split(separator: " ").last } == ["off", "on", "off", "on"])
    #expect(room.count(audioSSRC, from: 16, to: 25) == 0 && room.count(videoSSRC, from: 16, to: 25) == 0)
    #expect(room.count(audioSSRC, from: 26, to: 33) == 350)
    #expect(room.rig.sender.pathStatistics(now: room.now).isPaused == false)
  }

  /// Large packets are lost on a path whose MTU is smaller; small ones are not.
  @Test func onlyWhatDoesNotArriveIsPaused() {
    var room = Room()
    room.pictureArrives = false
    room.run(for: .seconds(24))
    #expect(room.pauses == ["15 picture off"])
    #expect(room.count(audioSSRC, from: 0, to: 24) == 1200)
    #expect(room.count(videoSSRC, from: 16, to: 24) == 0)
    #expect(room.rig.sender.pathStatistics(now: room.now).isPaused)
  }

  @Test func aStreamThatNoReportMentionsIsPausedToo() {
    var room = Room()
    room.reportsPicture = false
    room.run(for: .seconds(24))
    #expect(room.pauses == ["15 picture off"])
  }

  @Test func aTryThatArrivesEndsItAndAKeyFrameIsMade() {
    var room = Room()
    room.run(for: .seconds(5))
    room.pictureArrives = false
    room.run(for: .seconds(17))
    #expect(room.pauses.last?.hasSuffix("picture off") == true)
    room.pictureArrives = true
    let requests = room.rig.keyFrameRequests.count
    room.run(for: .seconds(40))
    #expect(room.pauses.count == 2 && room.pauses.last?.hasSuffix("picture on") == true)
    #expect(room.rig.keyFrameRequests.count == requests + 1)
    #expect(room.count(videoSSRC, from: 40, to: 60) == 400)
  }

  @Test func reportsAfterASilenceEndItAtOnce() {
    var room = Room()
    (room.reportsSound, room.reportsPicture) = (false, false)
    room.run(for: .seconds(18))
    #expect(room.pauses == ["15 sound off", "15 picture off"])
    (room.reportsSound, room.reportsPicture) = (true, true)
    room.run(for: .seconds(20))
    #expect(room.pauses.suffix(2) == ["18 sound on", "18 picture on"])
    #expect(room.count(audioSSRC, from: 19, to: 38) == 950)
  }

  /// ICE knows that the path is gone, and its consent decides how long that may last.
  @Test func anInterruptionOfThirtySecondsPausesNothing() {
    var room = Room()
    room.run(for: .seconds(10))
    (room.reportsSound, room.reportsPicture) = (false, false)
    room.run(for: .seconds(4))
    room.rig.sender.setPathAlive(false, now: room.now)
    room.run(for: .seconds(26))
    room.rig.sender.setPathAlive(true, now: room.now)
    room.run(for: .seconds(2))
    (room.reportsSound, room.reportsPicture) = (true, true)
    room.run(for: .seconds(20))
    #expect(room.pauses == [])
    #expect(room.count(audioSSRC, from: 0, to: 62) == 3100)
  }

  @Test func tenSecondsWithoutReportsPauseNothingThoughICEHasNotNoticed() {
    var room = Room()
    room.run(for: .seconds(10))
    (room.reportsSound, room.reportsPicture) = (false, false)
    room.run(for: .seconds(10))
    (room.reportsSound, room.reportsPicture) = (true, true)
    room.run(for: .seconds(20))
    #expect(room.pauses == [])
  }

  @Test func aPathThatIsBackEndsAPause() {
    var room = Room()
    (room.reportsSound, room.reportsPicture) = (false, false)
    room.run(for: .seconds(17))
    room.rig.sender.setPathAlive(false, now: room.now)
    #expect(!room.rig.sender.pathStatistics(now: room.now).isPaused)
  }

  @Test func pausesBecomeLongerButStayUnderAMinute() {
    var breaker = CircuitBreaker()
    var openings: [Int] = []
    for second in 0..<600 {
      let wasOpen = breaker.isOpen
      let now = Instant.zero + .seconds(second)
      if breaker.admits(now: now) { breaker.noteSent(now: now) }
      if breaker.isOpen, !wasOpen { openings.append(second) }
    }
    #expect(zip(openings.dropFirst(), openings).map { $0 - $1 } == [18, 28, 48] + Array(repeating: 68, count: 7))
    breaker.noteArrived()
    let isAdmitted = breaker.admits(now: .zero + .seconds(600))
    #expect(isAdmitted)
  }

  @Test func aPictureNowAndThenOfWhichNothingIsHeardYetIsNotPaused() {
    var breaker = CircuitBreaker()
    for second in [0, 20] { breaker.noteSent(now: .zero + .seconds(second)) }
    #expect(!breaker.isOpen)
  }

  /// RFC 8083 section 4.3: ten times s / (R * sqrt(2 p / 3)).
  @Test func theRuleOfCongestionIsTenTimesTCP() throws {
    let limit = try #require(
      CircuitBreaker.congestionLimit(fractionLost: 0.24, roundTripTime: .milliseconds(200), packetBytes: 1000))
    #expect(abs(limit - 1_000_000) < 1)
    #expect(
      CircuitBreaker.congestionLimit(fractionLost: 0.05, roundTripTime: .milliseconds(200), packetBytes: 1000) == nil)
    #expect(CircuitBreaker.congestionLimit(fractionLost: 0.5, roundTripTime: .zero, packetBytes: 1000) == nil)
  }

  /// Loss that our own control takes for the radio's: on a long path even that is more than TCP would send by far.
  @Test(arguments: [20, 400]) func theTargetStaysWithinTheRuleOfCongestion(roundTrip: Int) throws {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.loss = 0.22
    call.cameraKbps = 1400
    call.run(for: .seconds(30)) { call in
      guard let last = call.rig.reports.last, call.now - last.at == .milliseconds(roundTrip + 100),
        case .senderReport(let report)? = last.packets.first
      else { return }
      let block = RTCPReportBlock(
        ssrc: report.ssrc, extendedHighestSequenceNumber: 1, lastSenderReport: report.compactNTPTime,
        delaySinceLastSenderReport: 65536 / 10)
      call.rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: call.now)
    }
    let path = call.rig.sender.pathStatistics(now: call.now)
    let measured = try #require(path.roundTripTime)
    #expect(abs((measured - .milliseconds(roundTrip)).inMilliseconds) < 5)
    #expect(path.estimate >= 1_400_000)
    if roundTrip < 100 {
      #expect(path.target == path.estimate)
    } else {
      #expect(path.target < 700_000 && path.target > 100_000)
    }
  }
}
