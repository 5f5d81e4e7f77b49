internal import Control
internal import HearingProof
internal import NIOCore
internal import Pipelines

// Sound checks: listens for the chirp in what arrives, and reports it to the child.
extension Watcher {
  /// How a sound check stands, as the child reports.
  func handle(_ hearing: HearingDocument) {
    guard hearing.state == .running else {
      if hearing.number == soundCheck?.number { endSoundCheck() }
      return
    }
    guard hearing.number != soundCheck?.number else { return }
    endSoundCheck()
    let isChirp = hearing.way == HearingTest.Way.chirp.rawValue
    audio.ear.begin { [weak self] share in
      guard isChirp, let self else { return }
      loop.execute { self.report(HearingHeard(number: hearing.number, share: share)) }
    }
    soundCheck = (hearing.number, nil)
    // The noise floor is compared each second.
    guard hearing.way == HearingTest.Way.noiseFloor.rawValue else { return }
    soundCheck?.timer = loop.scheduleRepeatedTask(initialDelay: .seconds(3), delay: .seconds(1)) { [weak self] _ in
      guard let self, let floor = audio.ear.floor, floor.isAlive else { return }
      report(HearingHeard(number: hearing.number, levelDb: min(0, max(-100, floor.levelDb))))
    }
  }

  func endSoundCheck() {
    soundCheck?.timer?.cancel()
    soundCheck = nil
    audio.ear.end()
  }

  private func report(_ note: HearingHeard) {
    guard note.number == soundCheck?.number else { return }
    session?.control.perform(note) { _ in }
  }
}
