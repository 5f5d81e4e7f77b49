internal import Control
internal import HearingProof
internal import NIOCore
internal import Pipelines

// Proofs of hearing: listens for the chirp in what arrives, and tells the child.
extension Watcher {
  /// How a proof stands, as the child tells.
  func follow(_ hearing: HearingDocument) {
    guard hearing.state == .running else {
      if hearing.number == hearingNumber { endHearing() }
      return
    }
    guard hearing.number != hearingNumber else { return }
    endHearing()
    hearingNumber = hearing.number
    let isChirp = hearing.way == HearingTest.Way.chirp.rawValue
    audio.ear.begin { [weak self] share in
      guard isChirp, let self else { return }
      loop.execute { self.tell(HearingHeard(number: hearing.number, share: share)) }
    }
    // The noise floor is compared each second.
    guard hearing.way == HearingTest.Way.noiseFloor.rawValue else { return }
    hearingTimer = loop.scheduleRepeatedTask(initialDelay: .seconds(3), delay: .seconds(1)) { [weak self] _ in
      guard let self, let floor = audio.ear.floor, floor.isAlive else { return }
      tell(HearingHeard(number: hearing.number, levelDb: min(0, max(-100, floor.levelDb))))
    }
  }

  func endHearing() {
    hearingNumber = nil
    hearingTimer?.cancel()
    hearingTimer = nil
    audio.ear.end()
  }

  private func tell(_ note: HearingHeard) {
    guard note.number == hearingNumber else { return }
    session?.control.perform(note) { _ in }
  }
}
