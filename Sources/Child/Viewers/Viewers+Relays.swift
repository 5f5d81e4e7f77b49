internal import Control
internal import Frames
internal import ICE
internal import Linux
internal import Logging
internal import PeerConnection
internal import Server
internal import Storage
internal import Wire

// Viewers whose packets pass through a TURN server.
extension Viewers {
  /// Once a second: what has passed since.
  func countRelayed() {
    guard relayMeter.limit != nil else { return }
    let seconds = Double(MonotonicClock.unixNanoseconds) / 1e9
    // From noon to noon: a night belongs to the day on which it began.
    let evening = LocalClock(unixSeconds: seconds - 12 * 3600)
    let night = evening.year * 10_000 + evening.month * 100 + evening.day
    let wasUsedUp = relayMeter.isUsedUp
    relayMeter.add(0, night: night)
    for session in registry.all {
      guard let connection = hub.connection(session.peer) else { continue }
      let sent = connection.statistics(now: MonotonicClock.now).bytesSent
      if connection.selectedPair?.isRelayed ?? false {
        relayMeter.add(sent &- session.countedBytes, night: night)
      }
      session.countedBytes = sent
    }
    if relayMeter.isUsedUp, !wasUsedUp {
      logger.warning("the relay's data for tonight is used up; relayed viewers get the sound alone")
    }
  }

  /// Through a relay no more than its owner wants to pay for.
  func pictureEstimate(of session: ViewerSession) -> Int? {
    guard isRelayed(session) else { return session.estimateKbps }
    return relayMeter.isUsedUp
      ? 0 : min(session.estimateKbps ?? settings.startKbps, servers.away.relayBitrateKbps)
  }

  /// What the viewer is told of its picture; nil without one.
  func picture(of session: ViewerSession) -> PictureDocument? {
    guard session.seesPicture else { return nil }
    let document = session.route.assignment.document
    guard document.reason != nil, relayMeter.isUsedUp, isRelayed(session) else { return document }
    return PictureDocument(rendition: session.route.assignment.step.told, reason: PictureDocument.relayData)
  }

  private func isRelayed(_ session: ViewerSession) -> Bool {
    hub.connection(session.peer)?.selectedPair?.isRelayed ?? false
  }
}
