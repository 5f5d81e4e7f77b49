import PeerConnection
import SCTP
import SDP
import Simulation
import TestSupport
import Testing
import Wire

@Suite struct ConnectsTests {
  @Test func offerAndAnswerConnectWithinATenthOfASecond() throws {
    let pair = SimulatedPair()
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.isConnected }, limit: .milliseconds(100)))
  }

  @Test func aForeignCertificateIsRefusedBeforeAnyMedia() throws {
    // The child's description names digest 2..., the other end of the path shows 9...
    let pair = SimulatedPair(childSecure: LyingSecure(announced: 2, shown: 9))
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.parent.state == .failed }, limit: .seconds(2)))
    #expect(pair.parent.failureReason?.contains("certificate") == true)
    #expect(!pair.parent.isSending(.video))
  }

  @Test func aPeerThatNeverAnswersEndsByItself() throws {
    let pair = SimulatedPair()
    pair.link.isCut = true
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(60)))
    #expect(pair.child.nextDeadline == nil)
  }

  @Test func candidatesThatComeBeforeTheirDescriptionWaitForIt() throws {
    let pair = SimulatedPair()
    let offer = try pair.parent.offer(wantsDataChannel: false, now: pair.now)
    var bare = offer
    var candidates: [String] = []
    for index in bare.media.indices {
      candidates += bare.media[index].candidates
      bare.media[index].candidates = []
    }
    #expect(!candidates.isEmpty)
    candidates.forEach { pair.child.addRemoteCandidate($0, now: pair.now) }
    let answer = try pair.child.answer(try SessionDescription(parsing: bare.description), now: pair.now)
    try pair.parent.accept(answer, now: pair.now)
    pair.drain()
    #expect(pair.run(until: { pair.isConnected }, limit: .milliseconds(200)))
  }

  @Test func aSecondOfferIsRefusedAndChangesNothing() throws {
    let pair = try SimulatedPair.connected()
    let offer = try SimulatedPair(seed: 9).parent.offer(wantsDataChannel: false, now: pair.now)
    #expect(throws: PeerConnectionError.self) { try pair.child.answer(offer, now: pair.now) }
    #expect(pair.isConnected)
  }

  @Test func nothingIsSentBeforeTheHandshakeOrAfterTheEnd() throws {
    let pair = SimulatedPair()
    try pair.exchangeDescriptions()
    pair.child.send([[1]], kind: .video, mediaTime: 0, captureTime: pair.now, now: pair.now)
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    #expect(!pair.arrivedAtParent.contains { kind(of: $0) == .rtp })
    pair.child.close(now: pair.now)
    pair.drain()
    pair.child.send([[1]], kind: .video, mediaTime: 0, captureTime: pair.now, now: pair.now)
    #expect(pair.child.poll() == nil)
    #expect(!pair.child.isSending(.video))
  }

  @Test func picturesAndSoundArriveWholeAndInOrder() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.run(for: .seconds(9))
    #expect(pair.viewer.pictures.count >= 300)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(pair.viewer.sounds.count >= 490)
    // The jitter buffer begins with more than such a path needs and leaves out a little.
    #expect(pair.viewer.sounds.last! - pair.viewer.sounds.count <= 4)
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0 && pair.viewer.concealments == 0)
    #expect(pair.viewer.delays(pair.camera).last! <= .milliseconds(20))
  }
}

/// Announces one certificate and shows another.
struct LyingSecure: SecureTransports {
  let announced: UInt8
  let shown: UInt8
  var certificateSHA256: [UInt8] { [UInt8](repeating: announced, count: 32) }
  func makeDTLS() throws -> any DTLSPort { FakeDTLS(digest: [UInt8](repeating: shown, count: 32)) }
  func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort { FakeSRTP() }
}
