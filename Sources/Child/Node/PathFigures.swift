internal import Control
internal import RTPSending
internal import Wire

extension PathDocument {
  init(_ path: RTPPathStatistics) {
    self.init(
      estimateKbps: Int(saturating: path.estimate / 1000), targetKbps: Int(saturating: path.target / 1000),
      queueMs: path.standingQueue.map { ($0.inSeconds * 1000).hundredths }, probesSent: path.probesSent,
      probesSucceeded: path.probesSucceeded, roundTripMs: path.roundTripTime.map { ($0.inSeconds * 1000).hundredths },
      lossPercent: (path.fractionLost * 100).hundredths, soundCopies: path.soundCopies, isCongested: path.isCongested)
  }
}

extension StatusReport.Viewer {
  /// The path in one line: `carries 2100 kbit/s, 1500 used at most, queue 3 ms, …`; nil where nothing is known.
  public var pathText: String? {
    guard let path else { return nil }
    var parts = ["carries \(path.estimateKbps) kbit/s"]
    if path.targetKbps < path.estimateKbps { parts[0] += " (\(path.targetKbps) now)" }
    if let queue = path.queueMs { parts.append("queue \(whole(queue)) ms") }
    if let time = path.roundTripMs { parts.append("round trip \(whole(time)) ms") }
    parts.append("\(path.lossPercent.tenths) % lost")
    parts.append("probes \(path.probesSucceeded) of \(path.probesSent)")
    if path.soundCopies > 0 { parts.append("sound sent \(path.soundCopies + 1) times") }
    if path.isCongested { parts.append("congested") }
    return parts.joined(separator: ", ")
  }
}

private func whole(_ value: Double) -> Int { Int(saturating: value.rounded()) }
