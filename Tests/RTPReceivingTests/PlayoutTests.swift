import RTP
import TestSupport
import Testing
import Wire

@testable import RTPReceiving

/// How long pictures and sound wait for what is asked for, beyond what the network needs.
@Suite struct PlayoutTests {
  private static let extensionIDs = RTPExtensionIDs(mid: 1, playoutDelay: 5)

  private static func rig(roundTrip: Int = 20) -> ReceiverRig {
    var stream = RTPReceiveStreamConfiguration.video()
    stream.extensionIDs = extensionIDs
    return ReceiverRig(video: stream, audio: .audio(), roundTrip: roundTrip)
  }

  private static func send(_ frame: TestFrame, asking delay: PlayoutDelay?, to rig: inout ReceiverRig) {
    for packet in rig.packets(of: frame) {
      var extensions = RTPHeaderExtensions()
      extensions.playoutDelay = delay
      rig.receive(
        RTPPacket.write(
          header: packet.header, extensions: extensions, ids: extensionIDs, payload: Array(packet.payload)
        )
        .bytes)
    }
  }

  @Test func picturesComeAsEvenlyAsTheirSenderAsks() throws {
    var rig = Self.rig()
    // Every third picture comes 40 ms late, one after more than anybody waits for.
    var shown: [Double] = []
    for number in 0..<60 {
      let late = number == 45 ? 400 : number % 3 == 1 ? 40 : 0
      rig.now = .milliseconds(number * 33 + late)
      Self.send(TestFrame(number: number, isKeyFrame: number == 0), asking: .patient, to: &rig)
      let frame = try #require(rig.frames.last?.frame)
      shown.append((rig.now + rig.receiver.playoutHold(for: frame, now: rig.now) - .zero).inMilliseconds)
    }
    // 150 ms from capture on, of which the way took half a round trip; timestamps are of 33.3 ms.
    for (number, at) in shown.enumerated() where number != 45 {
      #expect(abs(at - Double(number) * 33.333 - 140) < 25)
    }
    #expect(abs(shown[45] - 45 * 33 - 400) < 1, "what is late already is shown at once")
    let even = zip(shown[10..<40], shown[11..<41]).map { $1 - $0 }
    #expect(even.allSatisfy { (25...42).contains($0) })
  }

  @Test func whoAsksForNothingIsShownAtOnce() throws {
    for asked in [PlayoutDelay.live, PlayoutDelay(minimum: 1, maximum: 40), nil] {
      var rig = Self.rig(roundTrip: 40)
      Self.send(TestFrame(number: 0, isKeyFrame: true), asking: asked, to: &rig)
      #expect(rig.receiver.playoutHold(for: try #require(rig.frames.last).frame, now: rig.now) == .zero)
    }
  }

  @Test func beforeTheFirstSteadySoundPicturesWaitAsLong() throws {
    var rig = Self.rig()
    rig.receiver.setSteadyDelay(.milliseconds(400))
    Self.send(TestFrame(number: 0, isKeyFrame: true), asking: .live, to: &rig)
    #expect(rig.receiver.playoutHold(for: try #require(rig.frames.last).frame, now: rig.now) == .milliseconds(400))
  }

  @Test func nobodyWaitsForEverWhateverIsAskedFor() throws {
    var rig = Self.rig(roundTrip: 1)
    Self.send(
      TestFrame(number: 0, isKeyFrame: true), asking: PlayoutDelay(minimum: 4095, maximum: 4095), to: &rig)
    let hold = rig.receiver.playoutHold(for: try #require(rig.frames.last).frame, now: rig.now)
    #expect(hold > .milliseconds(400) && hold <= .milliseconds(500))
    rig.receiver.setSoundOutputDelay(.zero)
    #expect(rig.audio.audioTargetDelay ?? .zero <= .milliseconds(500))
  }

  @Test func soundWaitsForPicturesLessWhatItTakesAnyway() {
    var rig = Self.rig()
    Self.send(TestFrame(number: 0, isKeyFrame: true), asking: .patient, to: &rig)
    // Nobody hears it.
    #expect(rig.audio.audioTargetDelay == .milliseconds(40))
    rig.receiver.setSoundOutputDelay(.milliseconds(50))
    #expect(rig.audio.audioTargetDelay == .milliseconds(90))
    rig.receiver.setSoundOutputDelay(.milliseconds(55))
    #expect(rig.audio.audioTargetDelay == .milliseconds(90), "it varies a little all the time")
    Self.send(TestFrame(number: 1), asking: .live, to: &rig)
    #expect(rig.audio.audioTargetDelay == .milliseconds(40))
    rig.receiver.setSteadyDelay(.milliseconds(400))
    #expect(rig.audio.audioTargetDelay == .milliseconds(400))
    rig.receiver.setSteadyDelay(.seconds(3))
    #expect(rig.audio.audioTargetDelay == .milliseconds(500), "the buffer has its limit")
  }

  @Test func aDelayThatIsAskedForIsReachedAtOnceByOnePause() {
    var call = AudioCall()
    call.run(for: .seconds(5))
    call.buffer.setLeastDelay(.milliseconds(400), atOnce: true)
    call.forget()
    call.run(for: .seconds(10))
    #expect(call.isWithoutHoles && call.isInOrder)
    // From 20 ms to 400 ms, and never again.
    #expect((360...400).contains(call.concealedShare * 10_000))
    #expect(call.played.suffix(400).allSatisfy { $0.delay.map { (395...435).contains($0) } ?? false })
    call.buffer.setLeastDelay(.zero, atOnce: true)
    call.run(for: .seconds(5))
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.meanDelay < 60 && call.concealedShare == 0)
  }

  @Test func aDelayForPicturesIsReachedWherePacketsAreMissingAnyway() {
    var call = AudioCall()
    call.run(for: .seconds(5))
    call.buffer.setLeastDelay(.milliseconds(100), atOnce: false)
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.concealedShare == 0 && call.meanDelay < 40)
    call.path = { random, _ in Double.random(in: 0..<1, using: &random) < 0.1 ? nil : 10 }
    call.run(for: .seconds(5))
    call.path = { _, _ in 10 }
    call.forget()
    call.run(for: .seconds(3))
    #expect((90...130).contains(call.meanDelay))
  }
}
