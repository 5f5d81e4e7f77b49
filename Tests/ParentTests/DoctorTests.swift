import Discovery
import Health
import Pairing
import Testing
import Wire

@testable import Parent

/// What `cradle-parent doctor` makes of what it measures and of what fails.
@Suite(.timeLimit(.minutes(1))) struct DoctorTests {
  private static func pings(_ milliseconds: [Double], ahead: Double = 0) -> [LinkFigures.Ping] {
    milliseconds.map { LinkFigures.Ping(roundTripMs: $0, clockAheadMs: ahead) }
  }

  private static func watched(
    received: UInt64 = 1000, lost: Int64 = 0, recovered: UInt64 = 0, freezes: Double = 0, concealed: Double = 0
  ) -> WatchStatistics {
    var figures = WatchStatistics(state: .ended)
    figures.packetsReceived = received
    figures.packetsLost = lost
    figures.packetsRecovered = recovered
    figures.framesDecoded = 300
    figures.framesPerSecond = 30
    figures.width = 1280
    figures.height = 720
    figures.freezeCount = freezes == 0 ? 0 : 1
    figures.freezeMs = freezes
    figures.concealedPercent = concealed
    figures.roundTripMs = 8
    figures.latencyEstimateMs = 10
    return figures
  }

  private static func quality(_ pings: [Double], _ watched: WatchStatistics?, unanswered: Int = 0) -> LinkQuality {
    LinkQuality(
      LinkFigures(seconds: 10, pings: Self.pings(pings), unanswered: unanswered, watched: watched), wantsPicture: true,
      wantsSound: true)
  }

  private static let steady = [Double](repeating: 8, count: 50)

  // MARK: Figures

  @Test func roundTripsAreToldByTheirMedianAndTheirWorst() {
    let figures = LinkFigures(
      seconds: 10, pings: Self.pings([5, 400, 6, 7, 8]), unanswered: 1, watched: Self.watched())
    #expect(figures.roundTripMs == .init(p50: 7, p95: 8, max: 400))
    #expect(figures.spikes == 1)
    #expect(figures.unanswered == 1)
    #expect(figures.pings == 5)
  }

  @Test func lossCountsWhatDidNotComeAtFirst() {
    let of = { (watched: WatchStatistics) in
      LinkFigures(seconds: 10, pings: [], unanswered: 0, watched: watched).lostPercent
    }
    #expect(of(Self.watched()) == 0)
    // 950 came at first, 50 did not, and 30 of those were brought later.
    #expect(of(Self.watched(received: 980, lost: 50, recovered: 30)) == 5)
    #expect(of(Self.watched(received: 0)) == nil)
    // RFC 3550 counts duplicates as negative loss.
    #expect(of(Self.watched(lost: -3)) == 0)
  }

  @Test func clocksAreComparedByTheQuickestAnswer() {
    let ahead = { (pings: [LinkFigures.Ping]) in
      LinkFigures(seconds: 1, pings: pings, unanswered: 0, watched: nil).clockAheadMs
    }
    #expect(ahead(Self.pings([8, 8], ahead: 3)) == 0)
    #expect(ahead([.init(roundTripMs: 500, clockAheadMs: 200), .init(roundTripMs: 4, clockAheadMs: -5000)]) == -5000)
    #expect(ahead([]) == nil)
    #expect(ParentDoctor.finding(clockAhead: 0).state == .ok)
    #expect(ParentDoctor.finding(clockAhead: 90_000).state == .warning)
    #expect(ParentDoctor.finding(clockAhead: 90_000).detail.contains("90 s ahead of"))
    #expect(ParentDoctor.finding(clockAhead: -3_000).detail.contains("3 s behind"))
  }

  // MARK: LinkQuality

  @Test func aSteadyLinkIsGood() {
    let quality = Self.quality(Self.steady, Self.watched())
    #expect(quality.grade == .good)
    #expect(quality.summary == "Good: picture about 0.1 s behind, without gaps.")
    #expect(quality.findings.map(\.what) == ["round trip", "spikes", "loss", "picture", "sound"])
    #expect(quality.findings.allSatisfy { $0.state == .ok && $0.remedy == nil })
  }

  @Test func theWorstOfAllDecides() {
    #expect(Self.quality(Self.steady, Self.watched(received: 970, lost: 30)).grade == .usable)
    #expect(Self.quality(Self.steady, Self.watched(received: 900, lost: 100)).grade == .poor)
    #expect(Self.quality(Self.steady.map { $0 + 150 }, Self.watched()).grade == .usable)
    #expect(Self.quality(Self.steady.map { $0 + 500 }, Self.watched()).grade == .poor)
    #expect(Self.quality(Self.steady, Self.watched(freezes: 300)).grade == .usable)
    #expect(Self.quality(Self.steady, Self.watched(freezes: 2000)).grade == .poor)
    #expect(Self.quality(Self.steady, Self.watched(concealed: 3)).grade == .usable)
    #expect(Self.quality(Self.steady, Self.watched(concealed: 20)).grade == .poor)
  }

  @Test func spikesPointToPowerSaving() throws {
    // As an access point does that keeps packets until the next beacon.
    let quality = Self.quality(Self.steady.enumerated().map { $0.offset % 5 == 0 ? 260 : $0.element }, Self.watched())
    let spikes = try #require(quality.findings.first { $0.what == "spikes" })
    #expect(spikes.state == .problem)
    #expect(spikes.remedy?.contains("power saving") == true)
    #expect(Self.quality(Self.steady, Self.watched(), unanswered: 20).grade == .poor)
    // Where packets get lost, orders are late because they are sent again.
    let lossy = Self.quality(
      Self.steady.enumerated().map { $0.offset % 5 == 0 ? 1000 : $0.element }, Self.watched(received: 900, lost: 100))
    #expect(lossy.findings.first { $0.what == "spikes" }?.remedy?.contains("closer") == true)
    #expect(lossy.summary.contains("about 0.1 s behind"))
    // One is nothing.
    #expect(Self.quality(Self.steady + [300], Self.watched()).grade == .good)
  }

  @Test func whatDidNotComeIsSaid() {
    let quality = Self.quality([], WatchStatistics(state: .ended))
    #expect(quality.grade == .nothing)
    #expect(quality.findings.filter { $0.state == .problem }.map(\.what) == ["round trip", "picture", "sound"])
    // Who may only order misses no picture.
    let orders = LinkQuality(
      LinkFigures(seconds: 10, pings: Self.pings(Self.steady), unanswered: 0, watched: nil), wantsPicture: false,
      wantsSound: false)
    #expect(orders.grade == .good)
    #expect(orders.summary == "Good: commands and sound get through at once, without gaps.")
  }

  // MARK: Permissions

  @Test func whoMayNeitherSeeNorHearHasAProblem() {
    let state = { (permissions: Permissions) in ParentDoctor.finding(permissions, expiresAt: nil).state }
    #expect(state(.all) == .ok)
    #expect(state([.view, .listen]) == .ok)
    #expect(state([.listen, .control]) == .warning)
    #expect(state([.view]) == .warning)
    #expect(state([.control]) == .problem)
    #expect(state([]) == .problem)
  }

  // MARK: Finding the child

  private static func findings(_ text: String?, _ state: ParentState, _ network: FakeDiscovery) async -> [Finding] {
    var findings: [Finding] = []
    _ = await ParentDoctor(state: state, discovery: network).run(text, seconds: 1, saying: { _ in }) {
      findings.append($0)
    }
    return findings
  }

  @Test func eachReasonForNoLinkHasItsOwnWords() async throws {
    let parent = try TemporaryState()
    let alone = await Self.findings(nil, parent.state, FakeDiscovery(problem: .noAvahi))
    #expect(alone.last?.what == "pairing")
    #expect(alone.last?.detail == "no camera is paired with this computer, and no camera is seen on this network")
    #expect(alone.last?.remedy?.hasPrefix("cradle-parent pair --code") == true)

    let child = try await FakeChild.start()
    let call = PairingCall(state: parent.state, name: "Kitchen")
    _ = try await call.pair(child.openPairing().code, at: [#require(ChildAddress("127.0.0.1:\(child.port)"))])
    let other = await Self.findings("Attic", parent.state, FakeDiscovery(problem: .noAvahi))
    #expect(other.last?.detail.contains("“Attic” is not paired") == true)
    #expect(other.last?.remedy == "cradle-parent children")

    await child.stop()
    let gone = await Self.findings(nil, parent.state, FakeDiscovery(problem: .noAvahi))
    #expect(gone.last?.what == "connection")
    #expect(gone.last?.state == .problem)
    #expect(gone.last?.detail.contains("cannot be reached") == true)
    #expect(gone.last?.remedy == "cradle-parent discover")
    #expect(gone.contains { $0.what == "discovery" && $0.state == .warning })
  }
}
