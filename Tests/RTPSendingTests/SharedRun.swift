import RTPSending
import TestSupport
import Wire

/// A call beside somebody's downloads, through the same narrow place.
struct SharedRun {
  var call: Call
  var flows: [CubicFlow] = []
  /// When the downloads begin.
  var flowsBegin = Instant.zero
  private(set) var seconds: [Second] = []
  private var random = SeededGenerator(seed: 7)
  private var before = (sent: 0, arrived: 0, bytes: 0, other: 0)

  struct Second {
    var targetKbps: Int
    /// Of the call's packets, 0...1.
    var lost: Double
    var kbps: Double
    var otherKbps: Double
  }

  init(link: Bottleneck, flows: Int = 0, configuration: RTPSenderConfiguration? = nil, seed: UInt64 = 1) {
    var settings = RTPSenderConfiguration()
    settings.minimumBitrateKbps = 30
    settings.usefulBitrateKbps = 2075
    settings.maximumBitrateKbps = 3000
    call = Call(rig: Rig(configuration: configuration ?? settings, seed: seed), link: link)
    call.isLadder = true
    call.answersRequests = true
    call.cameraKbps = 1500
    call.asksForKeyFrames = true
    call.sizeSpread = 0.3
    call.keyFrameFactor = 4
    call.random = SeededGenerator(seed: seed)
    random = SeededGenerator(seed: seed &* 31)
    self.flows = Array(repeating: CubicFlow(), count: flows)
  }

  mutating func run(seconds count: Int, each body: (inout SharedRun) -> Void = { _ in }) {
    for _ in 0..<count {
      for _ in 0..<1000 {
        body(&self)
        call.run(for: .milliseconds(1))
        guard call.now >= flowsBegin else { continue }
        for index in flows.indices {
          flows[index].run(over: &call.link, back: call.link.delay, now: call.now, random: &random)
        }
      }
      let sent = call.rig.packets.count, arrived = call.latencies.count
      let other = flows.reduce(0) { $0 + $1.deliveredBytes }
      seconds.append(
        Second(
          targetKbps: call.targetKbps, lost: 1 - Double(arrived - before.arrived) / Double(max(1, sent - before.sent)),
          kbps: Double(call.arrivedBytes - before.bytes) * 0.008, otherKbps: Double(other - before.other) * 0.008))
      before = (sent, arrived, call.arrivedBytes, other)
    }
  }

  /// Times without a picture longer than `limit`, milliseconds: a picture is shown when all its packets and all those of the
  /// pictures that it is made from have arrived.
  func freezes(from start: Int, over limit: Double = 300) -> [Double] {
    var shown: Instant?
    var found: [Double] = []
    for picture in call.wholePictures where picture >= .zero + .seconds(start) {
      if let shown, (picture - shown).inMilliseconds > limit { found.append((picture - shown).inMilliseconds) }
      shown = picture
    }
    if let shown, (call.now - shown).inMilliseconds > limit + 300 { found.append((call.now - shown).inMilliseconds) }
    return found
  }
}
